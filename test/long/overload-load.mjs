/**
 * Sends one request over and over on raw connections for some seconds: as fast as it is answered, or at a rate that does not
 * wait for answers. Prints what came back, and when: a reply counts from the time its request was due.
 */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** @type {{ port: number, request: string, seconds: number, perSecond?: number, connections: number, limitMs: number }} */
const { port, request, seconds, perSecond, connections, limitMs } = JSON.parse(await text(process.stdin));
const TICK_MS = 5;
const bytes = Buffer.from(request);
const HEAD = Buffer.from('HTTP/1.1 ');

const statuses = {};
const times = [];
let inTime = 0;
let lost = 0;
let isOver = false;

function open() {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  const due = [];
  const one = { socket, due };
  socket.on('data', (chunk) => {
    for (let at = chunk.indexOf(HEAD); at >= 0; at = chunk.indexOf(HEAD, at + 1)) {
      const status = chunk.toString('latin1', at + HEAD.length, at + HEAD.length + 3);
      const took = performance.now() - (due.shift() ?? 0);
      if (isOver) continue;
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === '200') times.push(took);
      if (status === '200' && took <= limitMs) inTime += 1;
      if (perSecond === undefined) send(one, performance.now());
    }
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    lost += due.length;
    if (isOver) return;
    all[all.indexOf(one)] = open();
  });
  return one;
}

function send({ socket, due }, time) {
  due.push(time);
  socket.write(bytes);
}

const all = [];
for (let index = 0; index < connections; index += 1) all.push(open());
const began = performance.now();
let sent = 0;
if (perSecond === undefined) for (const one of all) send(one, began);
else
  setInterval(() => {
    const wanted = ((performance.now() - began) / 1_000) * perSecond;
    for (; sent < wanted && !isOver; sent += 1)
      send(all[sent % all.length], began + (sent / perSecond) * 1_000);
  }, TICK_MS);
setTimeout(() => {
  isOver = true;
  times.sort((left, right) => left - right);
  const at = (part) => times[Math.floor(times.length * part)] ?? null;
  process.stdout.write(
    JSON.stringify({ sent, statuses, inTimePerSecond: inTime / seconds, p50: at(0.5), p99: at(0.99), lost }),
  );
  process.exit(0);
}, seconds * 1_000);
