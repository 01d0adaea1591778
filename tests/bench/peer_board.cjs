// boardgame.io (npm) with the small game that `depesche new-game` writes: everybody plays a card, the highest takes the trick.
//   node peer_board.cjs serve PORT FOLDER      the server, which keeps its games in files
//   node peer_board.cjs play PORT GAMES        two clients play so many games; prints {"moves", "median"} in seconds
const { INVALID_MOVE } = require("boardgame.io/core");

const CARDS = 5;
const Trick = {
  name: "trick",
  setup: ({ random }) => {
    const deck = random.Shuffle(Array.from({ length: 20 }, (_, card) => card + 1));
    return { hands: [deck.slice(0, CARDS), deck.slice(CARDS, 2 * CARDS)], trick: [], leader: 0, points: [0, 0] };
  },
  turn: {
    minMoves: 1,
    maxMoves: 1,
    order: {
      first: () => 0,
      next: ({ G, ctx }) => (G.trick.length ? (ctx.playOrderPos + 1) % 2 : G.leader),
    },
  },
  moves: {
    play: ({ G, playerID }, card) => {
      const hand = G.hands[playerID];
      if (!hand.includes(card)) return INVALID_MOVE;
      hand.splice(hand.indexOf(card), 1);
      G.trick.push([Number(playerID), card]);
      if (G.trick.length === 2) {
        G.leader = G.trick[0][1] > G.trick[1][1] ? G.trick[0][0] : G.trick[1][0];
        G.points[G.leader] += 1;
        G.trick = [];
      }
    },
  },
  endIf: ({ G }) => (G.hands.every((hand) => !hand.length) ? { points: G.points } : undefined),
};

function serve(port, folder) {
  const { Server, FlatFile } = require("boardgame.io/server");
  Server({ games: [Trick], origins: ["*"], db: new FlatFile({ dir: folder }) }).run(Number(port));
}

// Both clients have heard of every move before the next one is made.
async function play(port, games) {
  const { Client } = require("boardgame.io/client");
  const { SocketIO } = require("boardgame.io/multiplayer");
  const server = `http://127.0.0.1:${port}`;
  const took = [];
  for (let number = 0; number < games; number++) {
    const made = await fetch(`${server}/games/trick/create`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ numPlayers: 2 }),
    });
    const { matchID } = await made.json();
    const clients = [];
    for (const playerID of ["0", "1"]) {
      const joined = await fetch(`${server}/games/trick/${matchID}/join`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ playerID, playerName: playerID }),
      });
      const { playerCredentials } = await joined.json();
      const multiplayer = SocketIO({ server });
      const client = Client({ game: Trick, multiplayer, matchID, playerID, credentials: playerCredentials, debug: false });
      client.start();
      clients.push(client);
    }
    const all = (known) => new Promise((done) => {
      const look = () => { if (clients.every((client) => known(client.getState()))) done(); };
      clients.forEach((client) => client.subscribe(look));
      look();
    });
    await all((state) => state !== null);
    while (!clients[0].getState().ctx.gameover) {
      const { G, ctx, _stateID } = clients[0].getState();
      const begun = performance.now();
      const other = clients[1 - Number(ctx.currentPlayer)];
      clients[Number(ctx.currentPlayer)].moves.play(G.hands[ctx.currentPlayer][0]);
      await new Promise((done) => {
        const leave = other.subscribe((state) => { if (state._stateID > _stateID) { leave(); done(); } });
      });
      took.push((performance.now() - begun) / 1000);
      await all((state) => state._stateID > _stateID);
    }
    clients.forEach((client) => client.stop());
  }
  took.sort((one, other) => one - other);
  console.log(JSON.stringify({ moves: took.length, median: took[took.length >> 1] }));
  process.exit(0);
}

const [what, port, word] = process.argv.slice(2);
what === "serve" ? serve(port, word) : play(port, Number(word));
