// What could be done after a whole move that ends no turn and draws nothing: asked of the server, which imagines it.
// What can be touched then is laid over the stage and put beside what lies in the tray.

const NAMESPACE = "http://www.w3.org/2000/svg";

export function lookAhead(root, address) {
  const known = new Map();
  const layer = document.createElementNS(NAMESPACE, "g");
  let beside = [];

  async function after(move) {
    if (!address) return null;
    if (!known.has(move)) known.set(move, asked(move));
    return known.get(move);
  }

  async function asked(move) {
    const answer = await fetch(`${address}?${new URLSearchParams({ move })}`).catch(() => null);
    if (answer?.status !== 200) return null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const { menu, labels, rules } = JSON.parse(page.querySelector("script").textContent);
    return { menu, labels, rules, drawn: [...page.querySelectorAll("[data-stage] [data-token]")], laid: [...page.querySelectorAll(".tray [data-token]")], spots: [...page.querySelectorAll("[data-token]")] };
  }

  function show({ drawn, laid }) {
    layer.replaceChildren(...drawn);
    root.querySelector("[data-stage]").append(layer);
    beside = laid;
    root.querySelector(".tray").append(...laid);
    return [...drawn, ...laid];
  }

  function hide() {
    layer.remove();
    for (const one of beside) one.remove();
    beside = [];
  }

  return { after, show, hide };
}
