import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { printMessage, readMessage, readRequest, revived } from './exact-message.js';
import { utf8Text } from './node-messages.js';

/** What a transport of the SDK over stdio reads messages from. */
interface Lines {
  append(chunk: Buffer): void;
  readMessage(): JSONRPCMessage | null;
  clear(): void;
}

/** `unreadable` makes the message that takes the place of a line that readers could differ in; undefined to leave it out. */
export type Unreadable = (line: string, error: Error) => JSONRPCMessage | undefined;

const LINE_FEED = 10;
const MEMBER = '_readBuffer';

function createLines(maxBytes: number, unreadable: Unreadable, read: (text: string) => unknown): Lines {
  let buffer: Buffer = Buffer.alloc(0);

  function messageOf(line: Buffer): JSONRPCMessage | undefined {
    if (line.every((byte) => byte <= 0x20)) return undefined;
    try {
      return parseJSONRPCMessage(read(utf8Text(line)));
    } catch (error) {
      return unreadable(line.toString(), error as Error);
    }
  }

  return {
    append(chunk) {
      if (buffer.length + chunk.length > maxBytes) throw new Error(`a line has more than ${maxBytes} bytes`);
      buffer = Buffer.concat([buffer, chunk]);
    },
    readMessage() {
      for (let end = buffer.indexOf(LINE_FEED); end !== -1; end = buffer.indexOf(LINE_FEED)) {
        const line = buffer.subarray(0, end);
        buffer = buffer.subarray(end + 1);
        const message = messageOf(line);
        if (message !== undefined) return message;
      }
      return null;
    },
    clear() {
      buffer = Buffer.alloc(0);
    },
  };
}

/** The SDK has no way to give it a reader. Throws for a version of it that has another one: nothing would be exact. */
function readExactly(transport: object, lines: Lines): void {
  if (!Reflect.has(transport, MEMBER)) throw new Error('this version of the SDK reads stdio in another way');
  Reflect.set(transport, MEMBER, lines);
}

/** A connection to a client over this process, which ends with its client, and for a line that is too long: nothing is read after it. */
export function clientOverStdio(maxBytes: number, ended: () => void): StdioServerTransport {
  const transport = new (class extends StdioServerTransport {
    override async close(): Promise<void> {
      await super.close();
      ended();
    }

    override send(message: JSONRPCMessage): Promise<void> {
      return write(process.stdout, message);
    }
  })();
  const refused: Unreadable = (line, error) => {
    const message = `Parse error: ${error.message}`;
    // Readers may differ in its id, too.
    void write(process.stdout, { jsonrpc: '2.0', id: null, error: { code: -32_700, message } } as never);
    transport.onerror?.(new Error(`${message} in a line of ${line.length} characters`));
    return undefined;
  };
  readExactly(transport, createLines(maxBytes, refused, readRequest));
  return transport;
}

/** Lets a process that is a server read and print exactly. An instance, because the SDK makes a second one of its class. */
export function exactStdio(
  transport: StdioClientTransport,
  maxBytes: number,
  unreadable: Unreadable,
): StdioClientTransport {
  readExactly(transport, createLines(maxBytes, unreadable, readMessage));
  return Object.assign(transport, {
    async send(message: JSONRPCMessage): Promise<void> {
      const { stdin } = (Reflect.get(transport, '_process') ?? {}) as {
        readonly stdin?: NodeJS.WritableStream;
      };
      if (stdin === undefined) throw new Error('the process of the server has ended');
      await write(stdin, message);
    },
  });
}

/** Resolves when further messages may be written, and for a stream that ends. */
function write(stream: NodeJS.WritableStream, message: JSONRPCMessage): Promise<void> {
  return new Promise((resolve) => {
    if (stream.write(`${printMessage(message)}\n`)) return resolve();
    const done = (): void => {
      stream.off('drain', done).off('close', done).off('error', done);
      resolve();
    };
    stream.on('drain', done).on('close', done).on('error', done);
  });
}

/** Messages of a transport whose texts were marked, with their numbers. */
export function exactMessages<T extends Transport>(transport: T): T {
  let handler: Transport['onmessage'];
  return Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set(given: Transport['onmessage']) {
      handler = given && ((message, extra) => given(revived(message) as typeof message, extra));
    },
  });
}
