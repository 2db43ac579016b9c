import type { Socket } from 'node:net';
import type { Peer } from '../admission/peer.js';

/** What one turn of the event loop parses of a connection without a key: a few dozen requests without a body. */
const SLICE_BYTES = 4_096;

/**
 * Has the HTTP/1 parser of Node.js read a socket in small parts as long as no key was shown on it. Left alone it works off
 * all that has arrived at once, which may be thousands of requests, also when the connection is closed in between. To be
 * called once HTTP/1 is spoken on the socket. Throws where Node.js does not read sockets by one listener of 'data'.
 */
export function readInSlices(socket: Socket, peer: Peer): void {
  const listeners = socket.listeners('data');
  const [parse] = listeners;
  if (listeners.length !== 1 || parse === undefined) {
    throw new Error('This version of Node.js reads HTTP connections in a way the listener does not know');
  }
  socket.removeListener('data', parse as () => void);
  let waiting: Buffer[] = [];

  function read(chunk: Buffer): void {
    if (waiting.length > 0) waiting.push(chunk);
    else if (peer.owner.isKnown || chunk.length <= SLICE_BYTES) parse?.call(socket, chunk);
    else {
      waiting.push(chunk);
      peer.isWorking = true;
      goOn();
    }
  }

  /** Parses what waits, as far as it may now. The parser must not be given anything while the socket is paused. */
  function goOn(): void {
    const [chunk, ...others] = waiting;
    if (socket.destroyed) waiting = [];
    if (chunk === undefined || socket.destroyed) return;
    if (socket.isPaused()) {
      socket.once('resume', goOn);
      return;
    }
    const size = peer.owner.isKnown ? chunk.length : SLICE_BYTES;
    waiting = chunk.length > size ? [chunk.subarray(size), ...others] : others;
    parse?.call(socket, chunk.subarray(0, size));
    if (waiting.length > 0) peer.nextTurn(goOn);
    else peer.isWorking = false;
  }

  // Node.js reads the socket past its events until there is a listener of ours.
  socket.on('data', read);
}
