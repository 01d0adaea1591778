// The game that `depesche new-game` writes, on boardgame.io's server, and players of it there and at our service.
//
//   node peer_server.mjs MODULES serve PORT
//   node peer_server.mjs MODULES SIDE ADDRESS PID TABLES GAMES
//
// Theirs stores matches in the folder FLATFILE_DIR where that is set. The second plays so many games at each of so many
// tables, and prints moves a second, milliseconds of each, and those that the process PID took of the processor for one.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { setTimeout as pause } from "node:timers/promises"

const [modules, task, where, pid, atOnce, games] = process.argv.slice(2)
const require = createRequire(`${modules}/`)
const { Client } = require("boardgame.io/client")
const { INVALID_MOVE, PlayerView } = require("boardgame.io/core")
const { SocketIO } = require("boardgame.io/multiplayer")

const NAME = "tricks", CARDS = 5, MOVES = 2 * CARDS - 1 // the last one is not made: with it we would write letters

const tricks = {
  name: NAME,
  setup: ({ random }) => {
    const deck = random.Shuffle(Array.from({ length: 20 }, (_, card) => card + 1))
    const hand = seat => deck.slice(seat * CARDS, (seat + 1) * CARDS).sort((one, other) => one - other)
    return { players: { 0: hand(0), 1: hand(1) }, trick: [], leader: 0, points: [0, 0] }
  },
  playerView: PlayerView.STRIP_SECRETS, // of `players` everybody sees his own
  moves: {
    play: {
      client: false, // as their manual says for what is hidden: no client can work this out
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

async function asked(address, body) {
  const sent = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }
  const answer = await fetch(address, sent)
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** The first state of this client after so many moves. */
const reached = (client, moves) => new Promise(resolve => {
  const known = client.getState()
  if (known?._stateID >= moves) return resolve(known)
  const stop = client.subscribe(state => state?._stateID >= moves && (stop(), resolve(state)))
})

/** A match of theirs where both players are connected; each call makes a move, and waits until its player sees it. */
async function theirs(server) {
  const { matchID } = await asked(`${server}/games/${NAME}/create`, { numPlayers: 2 })
  const seats = []
  for (const playerID of ["0", "1"]) {
    const joining = { playerID, playerName: "Anna" }
    const { playerCredentials: credentials } = await asked(`${server}/games/${NAME}/${matchID}/join`, joining)
    const multiplayer = SocketIO({ server })
    seats.push(Client({ game: tricks, multiplayer, matchID, playerID, credentials, debug: false }))
    seats.at(-1).start()
  }
  let moves = 0
  await Promise.all(seats.map(client => reached(client, moves)))
  return async () => {
    const [{ G, ctx }] = await Promise.all(seats.map(client => reached(client, moves)))
    const seat = seats[ctx.currentPlayer], hand = seat.getState().G.players[ctx.currentPlayer]
    seat.moves.play(hand[0])
    await reached(seat, ++moves)
  }
}

/** A table of ours where both sit; each call hands a move in and hears its verdict; with `looks` the next one looks. */
async function ours(server, looks) {
  const api = `${server}/api/v1`
  const players = ["anna", "bert"].map(name => ({ name, address: `${name}@example.org` }))
  const { links } = await asked(`${api}/tables`, { game: NAME, options: { cards: CARDS }, players })
  for (const link of links) await asked(`${api}/t/${link}/sit`, { nonce: "word" })
  const hands = await Promise.all(links.map(async link => (await asked(`${api}/t/${link}`)).view.own))
  let leader = 0, trick = []
  return async () => {
    const seat = (leader + trick.length) % 2, card = hands[seat].shift()
    const { accepted } = await asked(`${api}/t/${links[seat]}/moves`, { move: `play ${card}` })
    if (!accepted) throw new Error("a move known to be legal was not accepted")
    trick.push(card)
    if (trick.length === 2) [leader, trick] = [trick[1] > trick[0] ? 1 - leader : leader, []]
    if (looks) await asked(`${api}/t/${links[(leader + trick.length) % 2]}`)
  }
}

/** When our post has sent what it owes: invitations are no part of a move. */
async function quiet(server) {
  while (!/^depesche_letters_owed 0/m.test(await (await fetch(`${server}/metrics`)).text())) await pause(200)
}

/** Milliseconds of the processor that the server has taken: its clock ticks each ten. */
const busy = () => {
  const fields = readFileSync(`/proc/${pid}/stat`, "ascii").split(") ").at(-1).split(" ")
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

async function play(open, settled) {
  const tables = [], took = []
  while (tables.length < atOnce * games) tables.push(await open(where))
  await settled(where)
  const begun = performance.now(), spent = busy()
  await Promise.all(Array.from({ length: atOnce }, async (_, number) => {
    for (const move of tables.slice(number * games, (number + 1) * games))
      for (let count = 0; count < MOVES; count++) {
        const before = performance.now()
        await move()
        took.push(performance.now() - before)
      }
  }))
  const rate = (1000 * took.length) / (performance.now() - begun), cpu = (busy() - spent) / took.length
  console.log(JSON.stringify({ rate, took, cpu }))
  process.exit()
}

const sides = { theirs: [theirs, () => pause(1000)], ours: [ours, quiet], looking: [at => ours(at, true), quiet] }
if (task === "serve") serve(where)
else await play(...sides[task])
