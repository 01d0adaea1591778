// Plays the tones of what happens, once the reader has chosen to hear them on this device. Nothing is loaded for it.

import { TONES } from "./tones.js";

const SILENCE = 0.0001; // of the volume; an exponential ramp can neither begin nor end at 0
const RISE_S = 0.01; // until a tone is at its loudest

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
  const start = context.currentTime + at;
  const sound = context.createOscillator();
  const volume = context.createGain();
  sound.type = "triangle";
  sound.frequency.value = pitch;
  volume.gain.setValueAtTime(SILENCE, start);
  volume.gain.exponentialRampToValueAtTime(loud, start + RISE_S);
  volume.gain.exponentialRampToValueAtTime(SILENCE, start + lasts);
  sound.connect(volume).connect(context.destination);
  sound.start(start);
  sound.stop(start + lasts);
}
