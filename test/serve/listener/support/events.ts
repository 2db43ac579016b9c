import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';

/** The first argument of the next event; unlike `once` of node:events it does not reject on 'error'. */
export function event<T = unknown>(emitter: EventEmitter, name: string): Promise<T> {
  return new Promise((resolve) => emitter.once(name, resolve));
}

/** Everything received until the connection closes, however it closes. */
export function receivedUntilClose(readable: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  readable.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => readable.once('close', () => resolve(Buffer.concat(chunks))));
}

/** Resolves with what was received as soon as it contains the text; rejects when the connection closes before. */
export function receivedText(readable: Readable, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const onData = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (!received.includes(text)) return;
      readable.off('data', onData);
      readable.off('close', onClose);
      resolve(received);
    };
    const onClose = () => reject(new Error(`closed after ${JSON.stringify(received)}`));
    readable.on('data', onData);
    readable.once('close', onClose);
  });
}

/** A door that a handler waits at: `reached` resolves when someone is there, `open` lets everyone pass. */
export interface Door {
  readonly reached: Promise<void>;
  readonly open: () => void;
  readonly pass: () => Promise<void>;
}

export function createDoor(visitors = 1): Door {
  let arrive = () => {};
  let open = () => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let waiting = 0;
  return {
    reached,
    open,
    pass: () => {
      waiting += 1;
      if (waiting === visitors) arrive();
      return opened;
    },
  };
}
