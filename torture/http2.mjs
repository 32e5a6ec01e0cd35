// An HTTP/2 client written frame by frame over TCP, for what no library does: it requests and then takes no body, or only
// as much as it is told to, and keeps its connection alive with PINGs.

import net from 'node:net';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const ACK = 1;
const END_STREAM = 1;
const END_HEADERS = 4;
const INITIAL_WINDOW_SIZE = 4;
/** The first byte of a header block whose first field is `:status: 200`, from the static table of RFC 7541. */
const STATUS_200 = 0x88;

function frame(type, flags, stream, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const uint32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** A header field as a literal that is not indexed and not Huffman-coded; names and values below 127 bytes. */
function literal(name, value) {
  if (name.length > 126 || value.length > 126) throw new Error(`too long for one byte of length: ${name}`);
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);
}

/**
 * Connects with an initial stream window of `window` bytes and, with `pingEvery` ms, keeps sending PINGs. Gives a connection:
 * `get(host, path)` opens a stream and gives its number, `grant(stream, bytes)` lets the server send more, `streams` maps
 * numbers to {status200, bytes, ended, reset, chunks}, `closed` resolves once the server has ended the connection.
 */
export function connect(port, { window = 0, pingEvery = 0, localAddress, keep = false } = {}) {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress });
  const connection = { socket, streams: new Map(), isOpen: true, isGoingAway: false, pongs: 0, startedAt: Date.now(), endedAfter: null };
  let next = 1;
  let ticker;
  let pending = Buffer.alloc(0);
  const send = (bytes) => socket.writable && socket.write(bytes);

  connection.closed = new Promise((resolve) => {
    socket.on('error', () => {});
    socket.once('close', () => {
      clearInterval(ticker);
      connection.isOpen = false;
      connection.endedAfter = Date.now() - connection.startedAt;
      resolve(connection.endedAfter);
    });
  });
  connection.connected = new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
  connection.get = (host, path) => {
    const stream = next;
    next += 2;
    connection.streams.set(stream, { status200: null, bytes: 0, ended: false, reset: false, chunks: [] });
    const fields = [[':method', 'GET'], [':scheme', 'http'], [':authority', host], [':path', path]];
    send(frame(HEADERS, END_STREAM | END_HEADERS, stream, Buffer.concat(fields.map(([name, value]) => literal(name, value)))));
    return stream;
  };
  connection.grant = (stream, bytes) => send(Buffer.concat([frame(WINDOW_UPDATE, 0, stream, uint32(bytes)), frame(WINDOW_UPDATE, 0, 0, uint32(bytes))]));
  /** Streams whose answer has begun and is not complete: the server holds something for each. */
  connection.blocked = () => (connection.isOpen ? [...connection.streams.values()].filter((stream) => stream.status200 && !stream.ended && !stream.reset).length : 0);
  connection.destroy = () => socket.destroy();

  function received(type, flags, number, payload) {
    const stream = connection.streams.get(number);
    if (type === SETTINGS && !(flags & ACK)) send(frame(SETTINGS, ACK, 0));
    if (type === PING) flags & ACK ? (connection.pongs += 1) : send(frame(PING, ACK, 0, payload));
    if (type === GOAWAY) connection.isGoingAway = true;
    if (type === RST_STREAM && stream) stream.reset = true;
    if (type === HEADERS && stream) stream.status200 ??= payload[0] === STATUS_200;
    if (type === DATA && stream) {
      stream.bytes += payload.length;
      if (keep) stream.chunks.push(payload);
    }
    if ((type === HEADERS || type === DATA) && flags & END_STREAM && stream) stream.ended = true;
  }
  socket.on('data', (chunk) => {
    pending = pending.length ? Buffer.concat([pending, chunk]) : chunk;
    while (pending.length >= 9) {
      const length = pending.readUIntBE(0, 3);
      if (pending.length < 9 + length) break;
      received(pending[3], pending[4], pending.readUInt32BE(5) & 0x7fffffff, Buffer.from(pending.subarray(9, 9 + length)));
      pending = pending.subarray(9 + length);
    }
  });
  const setting = Buffer.concat([Buffer.from([0, INITIAL_WINDOW_SIZE]), uint32(window)]);
  send(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, setting)]));
  if (pingEvery) ticker = setInterval(() => send(frame(PING, 0, 0, Buffer.from('dropleaf'))), pingEvery);
  return connection;
}
