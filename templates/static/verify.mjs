// A verifier for logs of Depesche, written from engine/README.md alone; it shares nothing with engine/.
//
//   import { verify, receipts } from "./verify.mjs"          in a page
//   node verify.mjs game.json [letter.eml ...]               in a terminal: 0 sound, 1 broken, 2 misuse
//
// It knows no game. It checks the form, the chain, the seed, every digest, every draw, and all that the table itself
// does.
// Only logs with public luck need a second file: the curve of the beacon, noble-curves.min.mjs beside this one.

// --- Bytes and hashes -------------------------------------------------------------------------------------------

const utf8 = new TextEncoder()
const ascii = text => utf8.encode(text)
const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")
const unhex = text => Uint8Array.from(text.match(/../g) ?? [], pair => parseInt(pair, 16))

function concatenate(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

// A number as this many bytes, the highest first.
function toBytes(value, width) {
  const bytes = new Uint8Array(width)
  for (let at = width - 1, rest = value; at >= 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256
  return bytes
}

const primes = []
for (let n = 2; primes.length < 64; n++) if (primes.every(prime => n % prime)) primes.push(n)

// The first 32 bits of a root's fraction, exactly: doubles hold too few of them.
function computeRootFraction(prime, power) {
  const wanted = BigInt(prime) << BigInt(32 * power)
  let low = 0n,
    high = 1n << 40n
  while (high - low > 1n) {
    const middle = (low + high) >> 1n
    if (middle ** BigInt(power) <= wanted) low = middle
    else high = middle
  }
  return Number(low & 0xffffffffn)
}

const ROUNDS = Uint32Array.from(primes, prime => computeRootFraction(prime, 3))
const START = Uint32Array.from(primes.slice(0, 8), prime => computeRootFraction(prime, 2))
const rotate = (word, by) => (word >>> by) | (word << (32 - by))

export function sha256(...parts) {
  const message = concatenate(...parts)
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64)
  padded.set(message)
  padded[message.length] = 0x80
  padded.set(toBytes(message.length * 8, 8), padded.length - 8)
  const view = new DataView(padded.buffer),
    state = START.slice(),
    words = new Uint32Array(64)
  for (let block = 0; block < padded.length; block += 64) compress(view, block, state, words)
  return concatenate(...Array.from(state, word => toBytes(word, 4)))
}

function compress(view, block, state, words) {
  for (let t = 0; t < 16; t++) words[t] = view.getUint32(block + 4 * t)
  for (let t = 16; t < 64; t++) {
    const a = words[t - 15],
      b = words[t - 2]
    const low = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3),
      high = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
    words[t] = words[t - 16] + low + words[t - 7] + high
  }
  let [a, b, c, d, e, f, g, h] = state
  for (let t = 0; t < 64; t++) {
    const one = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[t] + words[t]) | 0
    const two = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;(h = g), (g = f), (f = e), (e = (d + one) | 0), (d = c), (c = b), (b = a), (a = (one + two) | 0)
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, place) => {
    state[place] += word
  })
}

// Keccak on 25 lanes of 64 bits, each kept as a low and a high word. The names of its steps are those of FIPS 202.
const OFFSETS = [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14]
const CONSTANTS = computeRoundConstants()

// The low and the high word for each of the 24 rounds: their bits come out of a shift register.
function computeRoundConstants() {
  let register = 1
  return Array.from({ length: 24 }, () => {
    const constant = [0, 0]
    for (let power = 0; power < 7; power++) {
      const bit = 2 ** power - 1
      if (register & 1) constant[bit >> 5] |= 1 << (bit & 31)
      register = (register << 1) ^ (register >> 7 ? 0x171 : 0)
    }
    return constant
  })
}

// The permutation Keccak-f[1600], in place.
function permute(lanes) {
  const moved = new Int32Array(50),
    sums = new Int32Array(10)
  for (const [low, high] of CONSTANTS) {
    // theta
    for (let i = 0; i < 10; i++) sums[i] = lanes[i] ^ lanes[i + 10] ^ lanes[i + 20] ^ lanes[i + 30] ^ lanes[i + 40]
    for (let x = 0; x < 5; x++) {
      const left = 2 * ((x + 4) % 5),
        right = 2 * ((x + 1) % 5)
      const one = sums[left] ^ ((sums[right] << 1) | (sums[right + 1] >>> 31))
      const two = sums[left + 1] ^ ((sums[right + 1] << 1) | (sums[right] >>> 31))
      for (let y = 0; y < 25; y += 5) {
        lanes[2 * (x + y)] ^= one
        lanes[2 * (x + y) + 1] ^= two
      }
    }
    for (let place = 0; place < 25; place++) turnLane(lanes, place, moved)
    // chi
    for (let y = 0; y < 50; y += 10) {
      for (let i = 0; i < 10; i++)
        lanes[y + i] = moved[y + i] ^ (~moved[y + ((i + 2) % 10)] & moved[y + ((i + 4) % 10)])
    }
    // iota
    lanes[0] ^= low
    lanes[1] ^= high
  }
}

// The steps rho and pi for one lane: it is turned, and written to another place of `moved`.
function turnLane(lanes, place, moved) {
  const x = place % 5,
    y = (place - x) / 5,
    end = 2 * (y + 5 * ((2 * x + 3 * y) % 5)),
    by = OFFSETS[place]
  let low = lanes[2 * place],
    high = lanes[2 * place + 1]
  if (by >= 32) [low, high] = [high, low]
  const bits = by % 32
  moved[end] = bits ? (low << bits) | (high >>> (32 - bits)) : low
  moved[end + 1] = bits ? (high << bits) | (low >>> (32 - bits)) : high
}

// SHAKE-256 as a stream: the messages here are shorter than one block of 136 bytes.
function* shake256(message) {
  const block = new Uint8Array(136),
    lanes = new Int32Array(50)
  block.set(message)
  block[message.length] ^= 0x1f
  block[135] ^= 0x80
  const words = new DataView(block.buffer)
  for (let i = 0; i < 34; i++) lanes[i] = words.getInt32(4 * i, true)
  for (;;) {
    permute(lanes)
    for (let i = 0; i < 34; i++) for (let byte = 0; byte < 4; byte++) yield (lanes[i] >>> (8 * byte)) & 255
  }
}

// --- JSON that can be read in one way only ------------------------------------------------------------------------

class Broken extends Error {
  constructor(check, seq, sentence) {
    super(sentence)
    Object.assign(this, { check, seq })
  }
}

// Stop at the first fault.
const ensure = (holds, check, seq, sentence) => {
  if (!holds) throw new Broken(check, seq, sentence)
}

const WORD = /[{}[\],:]|true|false|null/.source
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.source
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/.source
const TOKEN = new RegExp(`[\\x20\\n\\r\\t]*(?:(${WORD})|(${NUMBER})|(${STRING}))`, "y")
const CONSTANTS_OF_JSON = { true: true, false: false, null: null }

// The value of a JSON text: objects become maps. Refused is what could be read in two ways, such as a name told twice
// or a number that is not whole.
export function parse(text) {
  let at = 0
  const refuse = why => {
    throw new Broken("read", 0, `This is no log: ${why} (at character ${at}).`)
  }
  const next = () => {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)
    if (!found) refuse("it is not JSON")
    at = TOKEN.lastIndex
    const [, mark, digits, quoted] = found // one of the three
    return { mark, digits, quoted }
  }
  const readValue = ({ mark, digits, quoted }, depth) => {
    if (depth > 100) refuse("it is nested too deeply")
    if (quoted !== undefined) return readString(quoted)
    if (digits !== undefined) return readWholeNumber(digits)
    if (mark in CONSTANTS_OF_JSON) return CONSTANTS_OF_JSON[mark]
    if (mark === "[") return readList(depth)
    return mark === "{" ? readObject(depth) : refuse("it is not JSON")
  }
  const readWholeNumber = digits => {
    const found = Number(digits)
    if (!/^(0|-?[1-9]\d*)$/.test(digits) || !Number.isSafeInteger(found)) refuse(`${digits} is not a whole number`)
    return found
  }
  const readString = quoted => {
    const found = JSON.parse(quoted)
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(found)) refuse("half a character")
    return found
  }
  const readList = depth => {
    const items = []
    let token = next()
    if (token.mark === "]") return items
    for (;;) {
      items.push(readValue(token, depth + 1))
      const { mark } = next()
      if (mark === "]") return items
      if (mark !== ",") refuse("a list is not told right")
      token = next()
    }
  }
  const readObject = depth => {
    const fields = new Map()
    let token = next()
    if (token.mark === "}") return fields
    for (;;) {
      if (token.quoted === undefined || next().mark !== ":") refuse("an object is not told right")
      const name = readString(token.quoted)
      if (fields.has(name)) refuse(`“${name}” is told twice`)
      fields.set(name, readValue(next(), depth + 1))
      const { mark } = next()
      if (mark === "}") return fields
      if (mark !== ",") refuse("an object is not told right")
      token = next()
    }
  }
  const found = readValue(next(), 0)
  if (/[^\x20\n\r\t]/.test(text.slice(at))) refuse("something follows its end")
  return found
}

// Ascending code points: JavaScript's own order is that of 16-bit halves.
function byCodePoints(one, other) {
  const left = Array.from(one),
    right = Array.from(other)
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i] !== right[i]) return left[i].codePointAt(0) - right[i].codePointAt(0)
  }
  return left.length - right.length
}

// JSON in the only way in which it is hashed.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!(value instanceof Map)) return JSON.stringify(value)
  const names = [...value.keys()].sort(byCodePoints)
  return `{${names.map(name => `${JSON.stringify(name)}:${canonical(value.get(name))}`).join(",")}}`
}

// --- The form of an export ----------------------------------------------------------------------------------------

const HASH = /^[0-9a-f]{64}$/
const isHash = value => typeof value === "string" && HASH.test(value)
const isCount = value => Number.isInteger(value) && value >= 0
const isText = value => typeof value === "string"
const isMap = value => value instanceof Map
const hasExactly = (map, ...names) => isMap(map) && map.size === names.length && names.every(name => map.has(name))
const same = (one, other) => canonical(one) === canonical(other)

// The fields of an export, each of its type, and its links; what they say is not checked yet.
function readLog(text) {
  const log = parse(text),
    ok = (holds, sentence) => ensure(holds, "read", 0, sentence)
  ok(isMap(log), "This is no log: it is not one object.")
  const names = ["format", "table", "game", "commitment", "head", "entries", "seed", "seat"]
  const unknown = [...log.keys()].find(name => !names.includes(name))
  ok(unknown === undefined, `A log has no field “${unknown}”.`)
  const missing = names.find(name => !log.has(name))
  ok(missing === undefined, `The log has no field “${missing}”.`)
  const found = Object.fromEntries(log)
  ok(found.format === "depesche-log-1", "The format is not depesche-log-1.")
  for (const name of ["table", "game", "commitment", "head"]) ok(isText(found[name]), `The field “${name}” is no text.`)
  ok(found.seed === null || isText(found.seed), "The seed is no text.")
  ok(found.seat === null || Number.isInteger(found.seat), "The field “seat” is no number.")
  ok(Array.isArray(found.entries), "There is no list of entries.")
  // A link of the chain is an entry with its digest.
  found.links = found.entries.map((link, seq) => {
    ensure(
      isMap(link) &&
        [...link.keys()].every(name => ["digest", "whole", "entry", "salt"].includes(name)) &&
        isText(link.get("digest")) &&
        typeof link.get("whole") === "boolean" &&
        isMap(link.get("entry")) &&
        (link.get("salt") == null || isText(link.get("salt"))),
      "read",
      seq,
      `Entry ${seq} does not have digest, whole and entry, and nothing else.`,
    )
    return Object.fromEntries(link)
  })
  return found
}

const FIELDS = ["seq", "at", "seat", "move", "draws", "events", "edition"]

function checkOrder(log) {
  ensure(log.links.length, "order", 0, "The log has no entries.")
  log.links.forEach(({ digest, entry }, n) => {
    const ok = (holds, sentence) => ensure(holds, "order", n, `Entry ${n} ${sentence}.`)
    ok(entry.get("seq") === n, "is missing or out of order")
    ok(isHash(digest), "has no digest of 64 small hexadecimal digits")
    ok(hasExactly(entry, ...FIELDS), "has other fields than an entry has")
    ok(
      isCount(entry.get("at")) && isCount(entry.get("edition")),
      "tells its time or edition otherwise than in whole numbers",
    )
    ok(entry.get("seat") === null || isCount(entry.get("seat")), "is neither a seat's nor the server's")
    ok(Array.isArray(entry.get("draws")) && Array.isArray(entry.get("events")), "has no list of draws or events")
    ok(entry.get("events").length || !log.links[n].whole, "is whole, yet nothing happened in it")
    ok(
      entry.get("events").every(event => isMap(event) && isText(event.get("type"))),
      "has an event without a type",
    )
    ok(entry.get("move") === null || isText(entry.get("move")), "has a move that is no text")
    ok(n === 0 || entry.get("at") >= log.links[n - 1].entry.get("at"), "is dated before the entry that it follows")
  })
}

function checkOpening(log) {
  const entry = log.links[0].entry,
    [opened] = entry.get("events"),
    seat = entry.get("seat")
  const ok = (holds, sentence, n = 0) => ensure(holds, "opening", n, sentence)
  ok(
    seat === null && entry.get("events").length === 1 && opened.get("type") === "table.Opened",
    "The log does not begin with the opening of a table by the server.",
  )
  ok(
    isHash(log.commitment) && opened.get("commitment") === log.commitment,
    "The table was opened with another commitment.",
  )
  ok(opened.get("game") === log.game, "The table was opened for another game.")
  ok(!opened.has("table") || opened.get("table") === log.table, "The table was opened under another name.")
  log.links.forEach((link, n) =>
    ok(link.entry.get("edition") === opened.get("edition"), `Entry ${n} is of another edition.`, n),
  )
  log.named = opened.has("table")
  log.usesBeacon =
    opened.has("beacon") ||
    log.links.some(link =>
      link.entry.get("events").some(event => /^table\.(Round|Seal|WentSealed)/.test(event.get("type"))),
    )
  log.rounds = 0
}

function checkSeed(log) {
  if (log.seed === null) return
  ensure(isHash(log.seed), "seed", 0, "The seed is not 64 small hexadecimal digits.")
  const committed = hex(sha256(ascii("depesche commitment 1"), unhex(log.seed)))
  ensure(committed === log.commitment, "seed", 0, "The revealed seed is not the one that was committed to.")
  ensure(log.seat === null, "seed", 0, "A log with its seed is a copy for no seat, yet this one names a seat.")
  log.links.forEach((link, n) => {
    ensure(
      link.whole && isText(link.entry.get("move")),
      "seed",
      n,
      `Entry ${n} is not whole, though the seed is revealed.`,
    )
    ensure(link.salt == null, "seed", n, `Entry ${n} has a salt of its own, though the seed gives it.`)
  })
}

// Without the seed an entry is whole and proven by its salt, or cut. Logs without names may come from before salts.
function checkCuts(log) {
  const salted = log.named || log.links.some(link => link.salt != null)
  log.links.forEach((link, n) => {
    const ok = (holds, sentence) => ensure(holds, "cuts", n, `Entry ${n} ${sentence}.`)
    ok(
      !link.entry.get("events").some(event => event.get("type") === "table.Ended"),
      "ends the table, yet the seed is not revealed",
    )
    if (!link.whole)
      return ok(!link.entry.get("draws").length && link.salt == null, "is cut, yet shows its draws or its salt")
    ok(isText(link.entry.get("move")), "is said to be whole, yet its move is missing")
    ok(!salted || isHash(link.salt), "is said to be whole, yet has no salt to prove it")
  })
}

// --- Rounds of a public beacon ------------------------------------------------------------------------------------

const SIGNATURE = /^[0-9a-f]{96}$/
const COUNT = /^(0|[1-9]\d{0,14})$/
const checkedRounds = new Map()
const bigEndian = value => toBytes(value, 8)
const findEvent = (events, type) => events.find(event => event.get("type") === `table.${type}`)

// The beacon of the table; null if its draws are sealed.
function readBeacon(log) {
  const beacon = log.links[0].entry.get("events")[0].get("beacon")
  if (beacon === undefined) return null
  const right =
    hasExactly(beacon, "key", "genesis", "period") &&
    [...beacon.values()].every(isText) &&
    /^[0-9a-f]{192}$/.test(beacon.get("key")) &&
    COUNT.test(beacon.get("genesis")) &&
    COUNT.test(beacon.get("period")) &&
    beacon.get("period") !== "0"
  ensure(right, "rounds", 0, "The table was opened with a beacon that is not told right.")
  return { key: beacon.get("key"), genesis: Number(beacon.get("genesis")), period: Number(beacon.get("period")) }
}

// The round that a move at this time has to name: it comes one to two periods later.
const computeDueRound = ({ genesis, period }, at) => Math.max(1, Math.floor((at - genesis) / period) + 3)

// A draw (its label, its size, its result) of one thing out of one, which needs no luck.
const isCertain = drawn => Array.isArray(drawn) && !(drawn[1] > 1)

// The scheme bls-unchained-g1-rfc9380: what is signed is the hash of the round's number, a point of the first group.
export async function isSigned(key, round, signature) {
  const asked = `${key} ${round} ${signature}`
  if (!checkedRounds.has(asked)) {
    const {
      bls12_381: { shortSignatures },
    } = await import("./noble-curves.min.mjs")
    try {
      const message = shortSignatures.hash(sha256(bigEndian(round)), "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_")
      checkedRounds.set(asked, shortSignatures.verify(unhex(signature), message, unhex(key)))
    } catch {
      checkedRounds.set(asked, false)
    }
  }
  return checkedRounds.get(asked)
}

// Every round was named by the time of its move, before it came; it decides that move and no other, and is signed.
async function checkRounds(log) {
  let beacon = readBeacon(log),
    awaited = null
  for (const [n, { entry }] of log.links.entries()) {
    const ok = (holds, sentence) => ensure(holds, "rounds", n, `Entry ${n} ${sentence}.`)
    const events = entry.get("events"),
      named = findEvent(events, "RoundNamed"),
      drawn = findEvent(events, "RoundDrawn")
    if (named) {
      ok(beacon, "names a round, though its table knows no beacon")
      ok(awaited === null, "names a round while another one is waited for")
      ok(!entry.get("draws").length && events.length === 1, "names a round, and yet more happens")
      const due = computeDueRound(beacon, entry.get("at"))
      ok(named.get("round") === due, `names round ${named.get("round")}, and its time asks for ${due}`)
      awaited = due
    } else if (drawn) {
      ok(beacon && awaited !== null, "draws by a round that no entry named")
      ok(drawn.get("round") === awaited, `draws by round ${drawn.get("round")}, and round ${awaited} was named`)
      const signature = drawn.get("signature")
      ok(isText(signature) && SIGNATURE.test(signature), "has no signature of 96 small hexadecimal digits")
      ok(
        await isSigned(beacon.key, awaited, signature),
        `draws by a signature that is not the beacon's for round ${awaited}`,
      )
      awaited = null
      log.rounds += 1
    } else if (findEvent(events, "WentSealed")) {
      ok(beacon && awaited !== null, "goes on sealed, though no round is waited for")
      beacon = awaited = null
    } else {
      ok(
        !beacon || entry.get("draws").every(isCertain),
        "draws without a round of the beacon, though its table draws in public",
      )
    }
  }
}

// --- What is sealed -----------------------------------------------------------------------------------------------

// The hash of the log after each entry.
export function computeHeads(log) {
  let head = new Uint8Array(32)
  return log.links.map(link => {
    head = sha256(head, unhex(link.digest))
    return hex(head)
  })
}

function checkChain(log) {
  ensure(
    computeHeads(log).at(-1) === log.head,
    "chain",
    log.links.length - 1,
    "The digests do not lead to the head of this log.",
  )
}

// Every whole entry whose salt is known is the one that was sealed; `log.proven` counts them.
function checkDigests(log) {
  log.links.forEach((link, n) => {
    const salt = log.seed
      ? sha256(ascii("depesche salt 1"), unhex(log.seed), toBytes(n, 8))
      : link.salt && unhex(link.salt)
    if (!salt || !link.whole) return
    const digest = hex(sha256(salt, utf8.encode(canonical(link.entry))))
    ensure(digest === link.digest, "digests", n, `Entry ${n} is not the one that was sealed: its digest differs.`)
    log.proven = (log.proven ?? 0) + 1
  })
}

// The number below `size` that the seed gives for a draw: bits that make one too large are thrown away.
export function draw(key, entry, index, size) {
  const bits = size > 1 ? BigInt(size - 1).toString(2).length : 0,
    width = Math.ceil(bits / 8)
  if (!bits) return 0
  const stream = shake256(concatenate(key, toBytes(entry, 8), toBytes(index, 4))),
    mask = (1n << BigInt(bits)) - 1n
  for (;;) {
    let piece = 0n
    for (let i = 0; i < width; i++) piece = (piece << 8n) | BigInt(stream.next().value)
    if ((piece & mask) < BigInt(size)) return Number(piece & mask)
  }
}

// Every draw is the one that the seed gives, with the words of all players, and in public with the round's signature.
function checkDraws(log) {
  const nonces = [] // by seat
  let key = null // of the table, which is fixed when it starts
  log.links.forEach(({ entry }, n) => {
    const events = entry.get("events")
    for (const event of events) {
      if (key) break
      if (event.get("type") === "table.Sat") nonces[event.get("seat")] = utf8.encode(event.get("nonce"))
      if (event.get("type") === "table.Started") key = computeKey(log.seed, nonces)
    }
    const drawKey = key && events[0].get("type") === "table.RoundDrawn" ? computeRoundKey(key, events[0]) : key
    entry.get("draws").forEach((drawn, i) => {
      const ok = (holds, sentence) => ensure(holds, "draws", n, `Draw ${i} of entry ${n} ${sentence}.`)
      ok(key, "was made before the table had started")
      ok(
        Array.isArray(drawn) && drawn.length === 3 && isText(drawn[0]) && isCount(drawn[1]) && drawn[1] > 0,
        "has no label and size",
      )
      const [label, size, result] = drawn
      const found = draw(drawKey, n, i, size)
      ok(found === result, `(“${label}”) gives ${found} of ${size} from the seed, not ${result}`)
    })
  })
}

// The key of a table: its seed and the word of each player, with its length before it.
function computeKey(seed, nonces) {
  const words = nonces.flatMap(nonce => [toBytes(nonce.length, 2), nonce])
  return sha256(ascii("depesche key 1"), unhex(seed), ...words)
}

const computeRoundKey = (key, drawn) => sha256(ascii("depesche round 1"), key, unhex(drawn.get("signature")))

// --- The table's own law ------------------------------------------------------------------------------------------

const TABLE_COMMANDS = new Set([
  "open",
  "sit",
  "start",
  "resign",
  "undo",
  "agree",
  "refuse",
  "expire",
  "miss",
  "substitute",
  "offer",
  "back",
  "status",
  "help",
  "pause",
  "resume",
  "vacation",
  "home",
  "order",
  "cancel",
  "letters",
  "unsubscribe",
  "sealed",
])
const CHANGES_OF_PLAYERS = ["substitute", "relieve", "offer", "vacation", "home"]
const DAY = /^\d{4}-\d\d-\d\d$/
const isDay = text => DAY.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text
const makeEvent = (type, fields = {}) =>
  new Map(Object.entries({ type: `table.${type}`, ...fields }).filter(([, value]) => value !== undefined))
const isOwn = event => event.get("type").startsWith("table.")
const TOKENS = /^[^\s\x00-\x1f\x7f]+( [^\s\x00-\x1f\x7f]+)*$/u

// Every entry in turn: the table's own events have to be those that its command brings about.
function checkLaw(log) {
  const table = {
    phase: "new",
    seats: [],
    asked: null, // the request to undo, with the seats that have still to agree
    pausing: null, // the same for a pause
    sealing: null, // the same for going on without the beacon
    paused: false,
    awaited: null, // the command that waits for a round of the beacon, and that round
    steps: [], // the moves in the game, without those that were undone
    before: [], // these steps before each entry
  }
  log.links.forEach(({ entry }, n) => {
    const forbid = why => {
      throw new Broken("table", n, `The table's own law forbids entry ${n} (“${entry.get("move")}”): ${why}.`)
    }
    table.before[n] = table.steps
    if (!TOKENS.test(entry.get("move"))) forbid("its words are not parted by single blanks")
    if (table.phase === "over") forbid("the table is over")
    checkEntry(table, entry, forbid)
    applyEntry(table, entry, n)
    checkEnding(table, entry.get("events"), n, log.links.length - 1, forbid)
  })
}

const namesRound = events => events[0].get("type") === "table.RoundNamed"
const isDeciding = event => ["table.RoundDrawn", "table.WentSealed"].includes(event.get("type"))

// One entry at the table as it is before it: who acts, what is drawn, and which events the command brings about.
function checkEntry(table, entry, forbid) {
  const [verb, ...words] = entry.get("move").split(" "),
    seat = entry.get("seat"),
    events = entry.get("events")
  const canSeatsAct = table.phase === "playing" || table.awaited
  if (seat !== null && (!canSeatsAct || seat >= table.seats.length)) forbid("no seat can act there now")
  const isGameMove = seat !== null && !TABLE_COMMANDS.has(verb),
    canDraw = isGameMove || ["start", "expire"].includes(verb),
    isDecided = events.slice(0, 2).some(isDeciding) // a move that waited for a round, or goes on without it
  const moves = !namesRound(events) && (isDecided || (canDraw && !table.awaited))
  if (!moves && entry.get("draws").length) forbid("nothing is drawn for it")
  let wanted = []
  if (table.awaited) wanted = listEventsWhileAwaiting(table, seat, verb, words, events, forbid)
  else if (seat === null) wanted = listServerEvents(table, verb, words, events, forbid)
  else if (!isGameMove) wanted = listSeatEvents(table, seat, verb, words, entry, forbid)
  if (namesRound(events)) {
    // The move is made later, by the round; until then only this happens.
    if (table.awaited || !canDraw) forbid("nothing is drawn for it")
    wanted = [makeEvent("RoundNamed", { round: events[0].get("round") })]
  }
  checkEvents(table, wanted, events, moves, forbid)
}

// Changes the table as an entry says.
function applyEntry(table, entry, n) {
  const [verb, ...words] = entry.get("move").split(" "),
    seat = entry.get("seat"),
    events = entry.get("events")
  for (const event of events) applyEvent(table, event, n)
  if (namesRound(events)) table.awaited = { seat, verb, words, round: events[0].get("round") }
  if (namesRound(events) || events.some(event => !isOwn(event))) table.asked = null
  const mover = findMover(events, seat)
  if (mover !== null) table.steps = [...table.steps, { seq: n, seat: mover, drew: entry.get("draws").length > 0 }]
}

// The seat whose move in the game this is, also where it waited for its draws; null if it is no seat's.
function findMover(events, seat) {
  const decision = events.slice(0, 2).findIndex(isDeciding), // -1 if it did not wait
    first = events[decision + 1]
  if (first.get("type") === "table.TimedOut") return first.get("seat")
  if (isOwn(first)) return null
  return decision < 0 ? seat : (events[decision].get("seat") ?? null)
}

// The own events of a table that awaits a round. A seat may leave, or ask to go on without it and answer that request.
function listEventsWhileAwaiting(table, seat, verb, words, events, forbid) {
  if (seat === null) return listServerEventsWhileAwaiting(table, verb, words, events, forbid)
  const { awaited, sealing } = table
  const goOnSealed = () => [
    makeEvent("WentSealed", { seat: awaited.seat ?? undefined }),
    ...listEventsOfAwaited(awaited),
  ]
  if (table.seats[seat].status !== "taken" || words.length) forbid("a round of the beacon is waited for")
  if (verb === "resign" && table.phase === "playing") return [makeEvent("Resigned", { seat })]
  if (verb === "sealed" && !sealing)
    return [makeEvent("SealAsked", { seat }), ...(listSeatsToAsk(table, seat).length ? [] : goOnSealed())]
  if (verb === "agree" && sealing?.waiting.includes(seat))
    return [makeEvent("SealAgreed", { seat }), ...(sealing.waiting.length === 1 ? goOnSealed() : [])]
  if (verb === "refuse" && sealing) return [makeEvent("SealRefused", { seat })]
  return forbid("a round of the beacon is waited for")
}

// The same for a command of the server: the round itself, or a change of players.
function listServerEventsWhileAwaiting(table, verb, words, events, forbid) {
  const { awaited } = table,
    [round, signature] = words
  if (verb === "round" && words.length === 2 && round === String(awaited.round) && SIGNATURE.test(signature)) {
    return [
      makeEvent("RoundDrawn", { round: awaited.round, signature, seat: awaited.seat ?? undefined }),
      ...listEventsOfAwaited(awaited),
    ]
  }
  if (verb === "bot" && table.phase === "gathering") {
    const findChair = () => [Number(words[0]), table.seats[Number(words[0])] ?? forbid("there is no such seat")]
    return listEventsOfGathering(table, verb, words, findChair, forbid)
  }
  if (CHANGES_OF_PLAYERS.includes(verb) && table.phase === "playing")
    return listServerEvents(table, verb, words, events, forbid)
  return forbid("a round of the beacon is waited for")
}

// The own events that the command which waited brings about: only the server's have one, which start or expire.
function listEventsOfAwaited({ seat, verb, words }) {
  if (seat !== null) return []
  return verb === "start" ? [makeEvent("Started")] : [makeEvent("TimedOut", { seat: Number(words[0]) })]
}

// The events of an entry are those that its command brings about, then those of the game if it is a move, and the end.
function checkEvents(table, wanted, events, moves, forbid) {
  const ending = events.findIndex(event => event.get("type") === "table.Ended")
  if (ending >= 0 && ending < events.length - 1) forbid("something happens after the end")
  if (ending >= 0 && !["playing", "gathering"].includes(table.phase)) forbid("it ends before it began")
  const rest = ending < 0 ? events : events.slice(0, -1)
  if (rest.length < wanted.length || !wanted.every((event, i) => same(event, rest[i])))
    forbid("it does not bring about what it has to")
  const game = rest.slice(wanted.length)
  if (game.some(isOwn) || (!moves && game.length)) forbid("more happens at the table than it brings about")
  if (moves && !game.length) forbid("nothing happens in the game")
}

// The table ends when fewer than two players are left, at the latest with the last entry, and its places are right.
function checkEnding(table, events, n, last, forbid) {
  const left = table.seats.filter(chair => chair.status !== "resigned").length
  if (table.phase === "playing" && left < 2) forbid("fewer than two players are left, yet the game goes on")
  if (table.phase !== "over") {
    ensure(n < last, "end", n, "The seed is revealed, yet the end of the table is missing: the log was cut off.")
    return
  }
  const places = events.at(-1).get("places")
  if (!hasExactly(events.at(-1), "type", "places") || !Array.isArray(places) || places.length !== table.seats.length)
    forbid("the places are not told")
  places.forEach((place, seat) => {
    const chair = table.seats[seat]
    const before = places.filter(other => other < place).length
    if (place !== 1 + before) forbid("the places are not right")
    if (chair.status !== "resigned") return
    // Before a player who resigned are those who are left, and those who resigned later.
    const later = table.seats.filter(other => other.status === "resigned" && other.left > chair.left).length
    if (place !== 1 + left + later) forbid("the places are not right")
  })
}

// The table's own events that a command of the server has to bring about.
function listServerEvents(table, verb, words, events, forbid) {
  const findChair = () => {
    const seat = Number(words[0])
    if (!/^(0|[1-9]\d*)$/.test(words[0] ?? "") || seat >= table.seats.length) forbid("there is no such seat")
    return [seat, table.seats[seat]]
  }
  if (table.phase === "new" && verb === "open") return listEventsOfOpening(words, events[0], forbid)
  if (table.phase === "gathering") return listEventsOfGathering(table, verb, words, findChair, forbid)
  if (table.phase !== "playing") forbid("the table is not opened")
  const [seat, { status, held, offered, away }] = findChair()
  const [, second, third] = words, // after the seat
    bare = words.length === 1,
    days = words.length === 3 && isDay(third)
  if (verb === "expire" && words.length > 1) return [makeEvent("TimedOut", { seat })]
  if (verb === "miss" && words.length === 2 && status === "taken" && ["relieve", "resign"].includes(second)) {
    return [
      makeEvent("Missed", { seat }),
      second === "resign" ? makeEvent("Resigned", { seat }) : makeEvent("Substituted", { seat, bot: true }),
    ]
  }
  if (verb === "substitute" && bare) return [makeEvent("Substituted", { seat })]
  if (verb === "relieve" && bare) return [makeEvent("Substituted", { seat, bot: true })]
  if (verb === "offer" && bare && held && !offered) return [makeEvent("Offered", { seat })]
  if (verb === "vacation" && days && held && isDay(second) && second <= third)
    return [makeEvent("VacationTaken", { seat, first: second, last: third })]
  if (verb === "home" && days && third < (away.get(second) ?? ""))
    return [makeEvent("VacationEnded", { seat, first: second, last: third })]
  return forbid("the server cannot do that now")
}

// Before the game: sitting down, and starting once all seats are taken. `findChair` returns the seat in the first word,
// and what is known of it.
function listEventsOfGathering(table, verb, words, findChair, forbid) {
  if (verb === "start" && !words.length) {
    if (table.seats.some(one => one.status === "empty")) forbid("a seat is still empty")
    return [makeEvent("Started")]
  }
  if (!["sit", "bot"].includes(verb) || words.length !== 2) forbid("the server cannot do that now")
  const [seat, { status, nonce }] = findChair(),
    bot = verb === "bot" || undefined // the event of a person has no such field
  const replacesPlayer = bot && status === "taken" && nonce === words[1]
  if (status !== "empty" && !replacesPlayer) forbid("the chair is taken")
  if (Array.from(words[1]).length > 40) forbid("the nonce is too long")
  return [makeEvent("Sat", { seat, nonce: words[1], bot })]
}

const SWITCHES = new Map([
  [true, "on"],
  [false, "off"],
])

// What the opening tells is what was ordered, word for word and each thing once.
function listEventsOfOpening(words, event, forbid) {
  const known = ["type", "game", "edition", "seats", "commitment", "options", "clock", "table", "beacon"]
  const format = value => SWITCHES.get(value) ?? String(value)
  const listPairs = (name, prefix = "") => {
    const map = event.get(name)
    if (map === undefined) return []
    if (!isMap(map) || !map.size) forbid(`the field “${name}” is not told right`)
    return [...map].map(([key, value]) => `${prefix}${key}=${format(value)}`)
  }
  if (
    [...event.keys()].some(name => !known.includes(name)) ||
    !isCount(event.get("seats")) ||
    !event.get("seats") ||
    event.get("seats") > 1000
  )
    forbid("the opening has unknown fields")
  if (event.has("table") && !/^[0-9A-Za-z_-]{1,40}$/.test(event.get("table")))
    forbid("the name is not one word of letters and digits")
  const ordered = [
    event.get("game"),
    String(event.get("seats")),
    event.get("commitment"),
    ...listPairs("options"),
    ...listPairs("clock", "clock."),
    ...listPairs("beacon", "beacon."),
    ...(event.has("table") ? [`table.name=${event.get("table")}`] : []),
  ]
  if (!same(ordered.sort(byCodePoints), [...words].sort(byCodePoints)))
    forbid("it says something else than the command")
  return [event]
}

// The table's own events that a command of a seat has to bring about.
function listSeatEvents(table, seat, verb, words, entry, forbid) {
  const { status, held, offered } = table.seats[seat],
    { asked, pausing, paused, steps } = table
  const request = asked ?? pausing,
    isAsked = request?.waiting.includes(seat), // and has not agreed yet
    others = listSeatsToAsk(table, seat)
  if (words.length) forbid("the command has no words of its own")
  const canReturn = (status === "bot" && held) || (status === "taken" && offered)
  if (verb === "back" && canReturn) return [makeEvent("Returned", { seat })]
  if (status !== "taken") forbid("the seat is empty")
  if (verb === "resign") return [makeEvent("Resigned", { seat })]
  if (verb === "resume" && paused) return [makeEvent("Resumed", { seat })]
  if (verb === "pause" && !paused && !asked && !pausing)
    return [makeEvent("PauseAsked", { seat }), ...(others.length ? [] : [makeEvent("Paused")])]
  if (verb === "agree" && isAsked) {
    const granted = asked ? makeEvent("Undone", { seat: asked.seat, to: asked.to }) : makeEvent("Paused")
    const agreed = makeEvent(asked ? "UndoAgreed" : "PauseAgreed", { seat })
    return request.waiting.length === 1 ? [agreed, granted] : [agreed]
  }
  if (verb === "refuse" && (isAsked || (pausing && !asked)))
    return [makeEvent(asked ? "UndoRefused" : "PauseRefused", { seat })]
  const step = steps.findLast(one => one.seat === seat)
  if (verb !== "undo" || asked || !step) forbid("that is not possible now")
  const undone = makeEvent("Undone", { seat, to: step.seq })
  // A last move without draws may be taken back at once.
  if (same(entry.get("events")[0], undone) && step === steps.at(-1) && !step.drew) return [undone]
  return [makeEvent("UndoAsked", { seat, to: step.seq }), ...(others.length ? [] : [undone])]
}

// The seats that have to agree to a request of this seat: those of all other players.
const listSeatsToAsk = (table, seat) =>
  table.seats.flatMap((chair, other) => (chair.status === "taken" && other !== seat ? [other] : []))

// Changes the table as an event of its own says.
function applyEvent(table, event, n) {
  const field = name => event.get(name),
    seat = field("seat"),
    chair = table.seats[seat]
  // All requests end when the player of a seat changes.
  const changePlayer = change => {
    table.seats[seat] = { ...chair, ...change }
    table.asked = table.pausing = table.sealing = null
  }
  switch (event.get("type")) {
    case "table.Opened":
      table.phase = "gathering"
      table.seats = Array.from({ length: field("seats") }, () => ({
        status: "empty", // or "taken", "bot", "resigned"
        nonce: "",
        held: false, // whether the seat is a person's, who may come back after a bot
        offered: false, // to a substitute
        left: 0, // the entry in which its player resigned
        away: new Map(), // the last day of each vacation, by its first
      }))
      break
    case "table.Sat":
      changePlayer({
        status: field("bot") ? "bot" : "taken",
        nonce: field("nonce"),
        held: !field("bot"),
        offered: false,
        left: 0,
        away: new Map(),
      })
      break
    case "table.Started":
      table.phase = "playing"
      break
    case "table.Resigned":
      changePlayer({ status: "resigned", left: n })
      break
    case "table.Substituted":
      if (field("bot")) changePlayer({ status: "bot" })
      else changePlayer({ status: "taken", held: true, offered: false, away: new Map() })
      break
    case "table.Returned":
      changePlayer({ status: "taken", offered: false })
      break
    case "table.Offered":
      chair.offered = true
      break
    case "table.VacationTaken":
    case "table.VacationEnded":
      if (field("first") <= field("last")) chair.away.set(field("first"), field("last"))
      else chair.away.delete(field("first"))
      break
    case "table.UndoAsked":
      table.asked = { seat, to: field("to"), waiting: listSeatsToAsk(table, seat) }
      break
    case "table.UndoAgreed":
      table.asked.waiting = table.asked.waiting.filter(other => other !== seat)
      break
    case "table.UndoRefused":
      table.asked = null
      break
    case "table.Undone":
      table.steps = table.before[field("to")]
      table.asked = null
      break
    case "table.PauseAsked":
      table.pausing = { seat, waiting: listSeatsToAsk(table, seat) }
      break
    case "table.PauseAgreed":
      table.pausing.waiting = table.pausing.waiting.filter(other => other !== seat)
      break
    case "table.PauseRefused":
      table.pausing = null
      break
    case "table.Paused":
      table.pausing = null
      table.paused = true
      break
    case "table.Resumed":
      table.paused = false
      break
    case "table.RoundDrawn":
    case "table.WentSealed":
      table.awaited = table.sealing = null
      break
    case "table.SealAsked":
      table.sealing = { seat, waiting: listSeatsToAsk(table, seat) }
      break
    case "table.SealAgreed":
      table.sealing.waiting = table.sealing.waiting.filter(other => other !== seat)
      break
    case "table.SealRefused":
      table.sealing = null
      break
    case "table.Ended":
      table.phase = "over"
      table.asked = table.pausing = table.awaited = table.sealing = null
      break
  }
}

// --- Receipts in letters ------------------------------------------------------------------------------------------

// Players write into letters too, but always indented in text, and never a tag in HTML. So a receipt is a sentence at
// the beginning of a line, after marks of quotation; in HTML its hash is in an element `code`, for which \u0001 stands
// once the tags are removed. The groups are the number of entries and the hash.
const RECEIPT_IN_TEXT =
  /^(?:[>|*] ?)*(?![>|*\s])[^\d\n]{0,60}?(\d{1,9})(?:(?![0-9a-fA-F]{64})[^\d]){0,80}?([0-9a-fA-F]{64})(?![0-9a-fA-F])/gm
const RECEIPT_IN_HTML = /(\d{1,9})(?:(?![0-9a-fA-F]{64})[^\d]){0,80}?\u0001\s*([0-9a-fA-F]{64})(?![0-9a-fA-F])/g
const RECEIPT_IN_PASTED_HTML =
  /^(?:[>|] ?)*<[^<>]*>[^\d\n]{0,60}?(\d{1,9})(?:(?![0-9a-fA-F]{64})[^\d]){0,80}?<code[^<>]*>\s*([0-9a-fA-F]{64})/gm

// All receipts of a letter as mail programs save it, or of a pasted text: table, length and hash.
export function receipts(raw) {
  const head = /^(?:[\w-]+:[^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*)+(?=\r?\n)/.exec(raw)?.[0] ?? ""
  const [, table] = /^X-Depesche:[ \t]*(\S+)/im.exec(head) ?? []
  const found = new Map() // each once, though a letter has it as text and as HTML
  for (const { text, kind } of decodeBodies(raw)) {
    const { plain, pattern } = preparePattern(text, kind)
    const all = [...plain.replace(/&nbsp;/g, " ").matchAll(pattern)]
    const own = table ? all.slice(-1) : all // one of our letters has its receipt below everything that others wrote
    for (const [, length, hash] of own) {
      const receipt = { table: table ?? "", length: Number(length), hash: hash.toLowerCase() }
      found.set(`${receipt.length}@${receipt.hash}`, receipt)
    }
  }
  return [...found.values()]
}

// The text in which receipts are looked for, and their pattern. A pasted text has no kind.
function preparePattern(text, kind) {
  if (kind === "text/html") {
    const plain = text.replace(/<code\b[^<>]*>/gi, "\u0001").replace(/<[^<>]{1,2000}>/g, " ")
    return { plain, pattern: RECEIPT_IN_HTML }
  }
  const isPastedHtml = !kind && /<(p|div|html|body)\b/i.test(text)
  return { plain: text, pattern: isPastedHtml ? RECEIPT_IN_PASTED_HTML : RECEIPT_IN_TEXT }
}

// The texts of a letter, decoded, each with its type: of each part of several parts, or of the one there is. A text
// without a head is pasted: it has no type. Parts that are no text are left out.
function decodeBodies(raw) {
  const text = raw.replace(/\r\n/g, "\n"),
    [, head, body] = /^((?:[\w-]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+)\n([\s\S]*)$/.exec(text) ?? []
  if (head === undefined) return [{ text, kind: "" }]
  const unfolded = head.replace(/\n[ \t]+/g, " "),
    header = name => new RegExp(`^${name}:(.*)$`, "im").exec(unfolded)?.[1].trim() ?? ""
  const boundary = /boundary="?([^";]+)"?/i.exec(header("Content-Type"))?.[1]
  if (boundary) {
    const [, ...parts] = `\n${body}`.split(`\n--${boundary}`) // without what is before the first
    const isEnd = part => part.startsWith("--")
    return parts.filter(part => !isEnd(part)).flatMap(part => decodeBodies(part.replace(/^[^\n]*\n/, "")))
  }
  const kind = (header("Content-Type") || "text/plain").split(";")[0].trim().toLowerCase()
  if (!kind.startsWith("text/")) return []
  return [{ text: decodeBody(body, header("Content-Transfer-Encoding").toLowerCase()), kind }]
}

function decodeBody(body, encoding) {
  if (encoding === "base64")
    return new TextDecoder().decode(
      Uint8Array.from(atob(body.replace(/[^A-Za-z0-9+/=]/g, "")), one => one.charCodeAt(0)),
    )
  if (encoding !== "quoted-printable") return body
  return body.replace(/=\n/g, "").replace(/=([0-9A-F]{2})/gi, (_, pair) => String.fromCharCode(parseInt(pair, 16)))
}

// What a receipt says of this log: "agrees", "contradicts", or "another table" where it is not of this one.
export function judgeReceipt(report, receipt) {
  if (receipt.table && receipt.table !== report.table) return "another table"
  return report.heads?.[receipt.length - 1] === receipt.hash ? "agrees" : "contradicts"
}

// --- All of it ----------------------------------------------------------------------------------------------------

const CHECKS = {
  order: checkOrder,
  opening: checkOpening,
  seed: checkSeed,
  cuts: checkCuts,
  digests: checkDigests,
  chain: checkChain,
  rounds: checkRounds,
  table: checkLaw,
  draws: checkDraws,
}

// Makes every check in turn, up to the first that fails; the fields of the report are below.
export async function verify(text) {
  const report = {
    sound: true,
    finding: null,
    checks: [],
    table: "",
    game: "",
    entries: 0,
    head: "",
    proven: 0,
    named: true,
    finished: false,
    rounds: 0,
    heads: [],
  }
  const passed = name => report.checks.push({ name, ok: true })
  try {
    const log = readLog(text)
    passed("read")
    Object.assign(report, {
      table: log.table,
      game: log.game,
      entries: log.links.length,
      head: log.head,
      finished: log.seed !== null,
    })
    const skipped = log.seed === null ? ["seed", "draws", "table"] : ["cuts"] // before the end, or after it
    for (const [name, check] of Object.entries(CHECKS)) {
      if (skipped.includes(name) || (name === "rounds" && !log.usesBeacon)) continue
      await check(log)
      passed(name)
      if (name === "opening") report.named = log.named
      if (name === "rounds") report.rounds = log.rounds
      if (name === "chain") report.heads = computeHeads(log)
    }
    report.proven = log.proven ?? 0
  } catch (error) {
    const { check, seq, message } =
      error instanceof Broken
        ? error
        : { check: "read", seq: 0, message: `This log cannot be followed: ${error.message}.` }
    Object.assign(report, { sound: false, finding: { check, seq, sentence: message } })
    report.checks.push({ name: check, ok: false })
  }
  return report
}

// Prints the verdict on a log and on the receipts in letters; returns 0 if all is sound, else 1.
async function main(file, ...letters) {
  const { readFileSync } = await import("node:fs")
  const report = await verify(readFileSync(file, "utf8"))
  for (const { name, ok } of report.checks) console.log(`${ok ? "ok    " : "BROKEN"} ${name}`)
  console.log(
    report.finding
      ? `Entry ${report.finding.seq}: ${report.finding.sentence}`
      : `${report.entries} entries, ${report.proven} of them proven, receipt ${report.head}`,
  )
  let isContradicted = false
  for (const receipt of letters.flatMap(letter => receipts(readFileSync(letter, "utf8")))) {
    const verdict = judgeReceipt(report, receipt)
    console.log(`The receipt after ${receipt.length} entries: ${verdict}`)
    isContradicted ||= verdict === "contradicts"
  }
  return report.sound && !isContradicted ? 0 : 1
}

if (typeof process !== "undefined" && process.argv?.[1]?.endsWith("verify.mjs")) {
  process.exitCode = process.argv[2] ? await main(...process.argv.slice(2)) : 2
}
