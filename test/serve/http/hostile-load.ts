import http2 from 'node:http2';
import net from 'node:net';
import { until } from '../../support/until.js';
import { open, streamMessage } from '../lane/lane-harness.js';

/** Streams on each connection: what the service allows by default. */
const STREAMS_PER_CONNECTION = 256;

export interface HostileLoad {
  /** Streams that are open and say nothing after one answered message. */
  readonly idle: number;
  /** Streams that send as much as they may and never read. */
  readonly neverReading: number;
  /** Connections that open and reset streams. */
  readonly resetting: number;
  /** HTTP/1 connections that do not finish their headers. */
  readonly slow: number;
}

/** Everything at once that a hostile client may do, all on one port. Returns what ends it. */
export async function startHostileLoad(url: string, load: HostileLoad): Promise<() => void> {
  const sessions: http2.ClientHttp2Session[] = [];
  const sockets: net.Socket[] = [];
  const connect = (options?: http2.ClientSessionOptions) => {
    const session = http2.connect(url, options);
    session.on('error', () => {});
    sessions.push(session);
    return session;
  };
  let isOver = false;

  let answered = 0;
  for (let left = load.idle; left > 0; left -= STREAMS_PER_CONNECTION) {
    const session = connect();
    for (let count = 0; count < Math.min(left, STREAMS_PER_CONNECTION); count += 1) {
      const { stream } = open(session, 'EvaluateStream');
      stream.once('data', () => {
        answered += 1;
      });
      stream.write(streamMessage('idle'));
    }
  }
  await until(
    () => answered,
    (count) => count === load.idle,
  );

  for (let count = 0; count < load.neverReading; count += 1) {
    const { stream } = open(connect(), 'EvaluateStream');
    stream.pause();
    const message = streamMessage('flood', 100);
    // Writes until nothing is taken any more, and goes on as soon as something is.
    const flood = (): void => {
      while (!isOver && !stream.destroyed && stream.write(message));
    };
    stream.on('drain', flood);
    flood();
  }
  const reset = (): void => {
    if (isOver) return;
    const session = connect();
    session.once('close', () => setImmediate(reset));
    session.once('connect', () => {
      const burst = (): void => {
        if (isOver || session.closed || session.destroyed) return;
        for (let count = 0; count < 50; count += 1)
          open(session, 'Evaluate').stream.close(http2.constants.NGHTTP2_CANCEL);
        setImmediate(burst);
      };
      burst();
    });
  };
  for (let count = 0; count < load.resetting; count += 1) reset();
  const { hostname, port } = new URL(url);
  for (let count = 0; count < load.slow; count += 1) {
    const socket = net.connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write('POST /api/v1/evaluation HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    sockets.push(socket);
  }
  return () => {
    isOver = true;
    for (const session of sessions) session.destroy();
    for (const socket of sockets) socket.destroy();
  };
}
