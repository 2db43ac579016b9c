import type { Socket } from 'node:net';
import { takeDataListener } from '../../contract/runtime/node-internals.js';
import type { Peer } from '../admission/peer.js';

/** Requests of one connection started in one turn of the event loop. */
const REQUESTS_PER_TURN = 16;
/** Requests that may wait on all connections together: about 40 MB. */
const MAX_WAITING = 10_000;

/** Number of pipelined requests waiting on all connections. */
export interface WaitingCount {
  waiting: number;
}

const HEADER_END = '\r\n\r\n';

/** Whether the first bytes of a connection are one request, as sent by clients that wait for replies. */
export function isOneRequest(received: Buffer): boolean {
  const end = received.indexOf(HEADER_END);
  return end >= 0 && received.indexOf(HEADER_END, end + HEADER_END.length) < 0;
}

/**
 * Requests sent on a connection without waiting for earlier replies. Node.js parses all data it has read from
 * a socket synchronously, which may be thousands of requests: those after the first wait for a turn, and from
 * then on the socket is read in slices. So are connections that begin with several requests, or whose first
 * request shows no key. Others are left to Node.js, which reads them with about 15 % less CPU per request.
 */
export class PipelinedRequests {
  readonly #socket: Socket;
  readonly #peer: Peer;
  readonly #count: WaitingCount;
  #starts: (() => void)[] = [];
  #isSliced = false;
  #hasServed = false;

  constructor(socket: Socket, peer: Peer, count: WaitingCount) {
    this.#socket = socket;
    this.#peer = peer;
    this.#count = count;
    socket.once('close', () => this.#drop());
  }

  /** Number of requests waiting for their turn. */
  get waiting(): number {
    return this.#starts.length;
  }

  /** Whether a request has to wait; `isBehind` if an earlier one is not answered yet. */
  mustWait(isBehind: boolean): boolean {
    if (this.#starts.length > 0) return true;
    return isBehind && !this.#isSliced && Number.isFinite(this.#peer.sliceBytes);
  }

  /** Starts a request in a later turn, unless the connection is closed by then. */
  wait(start: () => void): void {
    const peer = this.#peer;
    if (this.#socket.destroyed || peer.isIgnored) return;
    if (this.#count.waiting >= MAX_WAITING && peer.isUnknown) {
      peer.cutOff();
      return;
    }
    this.#starts.push(start);
    this.#count.waiting += 1;
    if (this.#starts.length > 1) return;
    peer.isWorking = true;
    peer.nextTurn(this.#goOn);
    // Not while the parser runs: this detaches it from the socket.
    process.nextTick(() => this.slice());
  }

  /** Called when a request was started. Keys are read before the next turn of the event loop. */
  served(): void {
    if (this.#hasServed) return;
    this.#hasServed = true;
    if (this.#peer.isUnknown) {
      setImmediate(() => {
        if (this.#peer.isUnknown) this.slice();
      });
    }
  }

  /** Reads the socket in slices from now on. */
  slice(): void {
    if (this.#isSliced || this.#socket.destroyed) return;
    this.#isSliced = true;
    readInSlices(this.#socket, this.#peer);
  }

  readonly #goOn = (): void => {
    for (const start of this.#starts.splice(0, REQUESTS_PER_TURN)) {
      this.#count.waiting -= 1;
      if (!this.#socket.destroyed && !this.#peer.isIgnored) start();
    }
    if (this.#starts.length > 0) this.#peer.nextTurn(this.#goOn);
    else this.#peer.isWorking = false;
  };

  #drop(): void {
    this.#count.waiting -= this.#starts.length;
    this.#starts = [];
  }
}

/**
 * Makes the HTTP/1 parser of Node.js read a socket in parts; see `Peer.sliceBytes`. By default it processes
 * all received data without interruption, which may be thousands of requests, even if the connection is
 * closed meanwhile. Must be called after HTTP/1 was set up on the socket, but not while the parser runs.
 */
function readInSlices(socket: Socket, peer: Peer): void {
  const parse = takeDataListener(socket);
  let waiting: Buffer[] = [];

  function read(chunk: Buffer): void {
    if (peer.isIgnored) return;
    if (waiting.length > 0) waiting.push(chunk);
    else if (chunk.length <= peer.sliceBytes) parse(chunk);
    else {
      waiting.push(chunk);
      peer.isWorking = true;
      goOn();
    }
  }

  /** Parses waiting data as far as allowed. */
  function goOn(): void {
    const [chunk, ...others] = waiting;
    if (socket.destroyed || peer.isIgnored) waiting = [];
    if (chunk === undefined || waiting.length === 0) return;
    if (socket.isPaused()) {
      socket.once('resume', goOn);
      return;
    }
    const size = Math.min(chunk.length, peer.sliceBytes);
    waiting = chunk.length > size ? [chunk.subarray(size), ...others] : others;
    parse(chunk.subarray(0, size));
    if (waiting.length > 0) peer.nextTurn(goOn);
    else peer.isWorking = false;
  }

  socket.on('data', read);
}
