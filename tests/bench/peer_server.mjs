// The game that `depesche new-game` writes, on boardgame.io's server, and players of it on that server and on Depesche.
//
//   node peer_server.mjs MODULES serve PORT
//   node peer_server.mjs MODULES SIDE ADDRESS PID TABLES GAMES
//
// `serve` runs boardgame.io's server, which stores matches in the folder FLATFILE_DIR if that is set. SIDE plays GAMES
// games at each of TABLES tables, and prints moves per second, the milliseconds of each move, and the milliseconds of
// processor time of the process PID for a move.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { setTimeout as pause } from "node:timers/promises"

const [modules, task, where, pid, atOnce, games] = process.argv.slice(2)
const require = createRequire(`${modules}/`)
const { Client } = require("boardgame.io/client")
const { INVALID_MOVE, PlayerView } = require("boardgame.io/core")
const { SocketIO } = require("boardgame.io/multiplayer")

const NAME = "tricks", CARDS = 5, MOVES = 2 * CARDS - 1 // without the last move, which brings letters

const tricks = {
  name: NAME,
  setup: ({ random }) => {
    const deck = random.Shuffle(Array.from({ length: 20 }, (_, card) => card + 1))
    const hand = seat => deck.slice(seat * CARDS, (seat + 1) * CARDS).sort((one, other) => one - other)
    return { players: { 0: hand(0), 1: hand(1) }, trick: [], leader: 0, points: [0, 0] }
  },
  playerView: PlayerView.STRIP_SECRETS, // each player sees only his own part of `players`
  moves: {
    play: {
      client: false, // as the manual says for hidden state: a client cannot compute this move
      move: ({ G, playerID }, card) => {
        if (!G.players[playerID].includes(card)) return INVALID_MOVE
        G.players[playerID] = G.players[playerID].filter(other => other !== card)
        G.trick.push(card)
        if (G.trick.length < 2) return
        if (G.trick[1] > G.trick[0]) G.leader = 1 - G.leader
        G.points[G.leader] += 1
        G.trick = []
      },
    },
  },
  turn: { minMoves: 1, maxMoves: 1, order: { first: () => 0, next: ({ G }) => (G.leader + G.trick.length) % 2 } },
  endIf: ({ G }) => (G.points[0] + G.points[1] === CARDS ? { points: G.points } : undefined),
}

function serve(port) {
  const { Server, Origins } = require("boardgame.io/server")
  Server({ games: [tricks], origins: [Origins.LOCALHOST] }).run(Number(port))
}

async function requestJson(address, body) {
  const sent = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }
  const answer = await fetch(address, sent)
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Wait for the first state of this client after so many moves. */
const waitForMoves = (client, moves) => new Promise(resolve => {
  const current = client.getState()
  if (current?._stateID >= moves) return resolve(current)
  const stop = client.subscribe(state => state?._stateID >= moves && (stop(), resolve(state)))
})

/** Start a match on boardgame.io; return a function that makes a move and waits until its player sees it. */
async function startPeer(server) {
  const { matchID } = await requestJson(`${server}/games/${NAME}/create`, { numPlayers: 2 })
  const seats = []
  for (const playerID of ["0", "1"]) {
    const joining = { playerID, playerName: "Anna" }
    const { playerCredentials: credentials } = await requestJson(`${server}/games/${NAME}/${matchID}/join`, joining)
    const multiplayer = SocketIO({ server })
    seats.push(Client({ game: tricks, multiplayer, matchID, playerID, credentials, debug: false }))
    seats.at(-1).start()
  }
  let moves = 0
  await Promise.all(seats.map(client => waitForMoves(client, moves)))
  return async () => {
    const [{ G, ctx }] = await Promise.all(seats.map(client => waitForMoves(client, moves)))
    const seat = seats[ctx.currentPlayer], hand = seat.getState().G.players[ctx.currentPlayer]
    seat.moves.play(hand[0])
    await waitForMoves(seat, ++moves)
  }
}

/** Start a game on Depesche; return a function that makes a move and, with `reads`, requests the next player's view. */
async function startDepesche(server, reads) {
  const api = `${server}/api/v1`
  const players = ["anna", "bert"].map(name => ({ name, address: `${name}@example.org` }))
  const { links } = await requestJson(`${api}/tables`, { game: NAME, options: { cards: CARDS }, players })
  for (const link of links) await requestJson(`${api}/t/${link}/sit`, { nonce: "word" })
  const hands = await Promise.all(links.map(async link => (await requestJson(`${api}/t/${link}`)).view.own))
  let leader = 0, trick = []
  return async () => {
    const seat = (leader + trick.length) % 2, card = hands[seat].shift()
    const { accepted } = await requestJson(`${api}/t/${links[seat]}/moves`, { move: `play ${card}` })
    if (!accepted) throw new Error("a legal move was not accepted")
    trick.push(card)
    if (trick.length === 2) [leader, trick] = [trick[1] > trick[0] ? 1 - leader : leader, []]
    if (reads) await requestJson(`${api}/t/${links[(leader + trick.length) % 2]}`)
  }
}

/** Wait until Depesche has sent all invitations, which are no part of a move. */
async function waitForLetters(server) {
  while (!/^depesche_letters_owed 0/m.test(await (await fetch(`${server}/metrics`)).text())) await pause(200)
}

/** Return the milliseconds of processor time of the server; a clock tick is ten of them. */
const readCpu = () => {
  const fields = readFileSync(`/proc/${pid}/stat`, "ascii").split(") ").at(-1).split(" ")
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

async function play(start, waitUntilReady) {
  const tables = [], took = []
  while (tables.length < atOnce * games) tables.push(await start(where))
  await waitUntilReady(where)
  const begin = performance.now(), spent = readCpu()
  await Promise.all(Array.from({ length: atOnce }, async (_, number) => {
    for (const move of tables.slice(number * games, (number + 1) * games))
      for (let count = 0; count < MOVES; count++) {
        const before = performance.now()
        await move()
        took.push(performance.now() - before)
      }
  }))
  const rate = (1000 * took.length) / (performance.now() - begin), cpu = (readCpu() - spent) / took.length
  console.log(JSON.stringify({ rate, took, cpu }))
  process.exit()
}

const sides = {
  theirs: [startPeer, () => pause(1000)],
  ours: [startDepesche, waitForLetters],
  looking: [server => startDepesche(server, true), waitForLetters],
}
if (task === "serve") serve(where)
else await play(...sides[task])
