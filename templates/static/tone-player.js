// Plays the tones of what happens, once the reader has chosen to hear them on this device. Nothing is loaded for it.

import { TONES } from "./tones.js";

/** @type {AudioContext | null} */
let audio = null;

/** @param {import("./tones.js").Happening} happening */
export async function play(happening) {
  audio ??= new AudioContext();
  if (audio.state === "suspended") await audio.resume(); // waits until the reader has touched the page
  for (const tone of TONES[happening]) playTone(audio, tone);
}

/** @param {AudioContext} context @param {import("./tones.js").Tone} tone */
function playTone(context, { pitch, at, lasts, loud }) {
  const [start, sound, volume] = [context.currentTime + at, context.createOscillator(), context.createGain()];
  sound.type = "triangle";
  sound.frequency.value = pitch;
  volume.gain.setValueAtTime(0.0001, start);
  volume.gain.exponentialRampToValueAtTime(loud, start + 0.01);
  volume.gain.exponentialRampToValueAtTime(0.0001, start + lasts);
  sound.connect(volume).connect(context.destination);
  sound.start(start);
  sound.stop(start + lasts);
}
