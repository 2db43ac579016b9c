import net from 'node:net';
import {
  array,
  compactArray,
  compactBytes,
  compactText,
  int8,
  int16,
  int32,
  int64,
  type KafkaBatch,
  KafkaReader,
  type KafkaRecord,
  NO_TAGS,
  NO_TEXT,
  readBatch,
  text,
} from './kafka-wire.js';

const PRODUCE = 0;
const METADATA = 3;
const SASL_HANDSHAKE = 17;
const API_VERSIONS = 18;
const INIT_PRODUCER_ID = 22;
const SASL_AUTHENTICATE = 36;
/** The versions that are served, one of each. */
const VERSIONS = new Map([
  [PRODUCE, 7],
  [METADATA, 9],
  [SASL_HANDSHAKE, 1],
  [API_VERSIONS, 3],
  [INIT_PRODUCER_ID, 4],
  [SASL_AUTHENTICATE, 2],
]);

const OUT_OF_ORDER = 45;
const MESSAGE_TOO_LARGE = 10;
const SASL_FAILED = 58;
const UNKNOWN_TOPIC = 3;

export interface KafkaBrokerOptions {
  readonly topic: string;
  readonly partitions: number;
  /** Name and password that clients have to have. */
  readonly sasl?: { readonly username: string; readonly password: string };
  /** Another broker that stores what is produced; without it, this one does. */
  readonly behind?: number;
  readonly port?: number;
}

/**
 * A broker of one topic in this process. It speaks the protocol of Kafka as far as producers need it, and keeps the
 * rules of idempotent producers: a batch with a known sequence number is acknowledged and not stored again, one with a
 * gap before it is refused.
 */
export interface KafkaBroker {
  readonly port: number;
  /** Stored records by partition. */
  readonly partitions: readonly KafkaRecord[][];
  readonly producers: ReadonlySet<bigint>;
  /** Batches that were sent again, and not stored again. */
  readonly repeated: () => number;
  /** Stores the next batches and breaks the connection instead of acknowledging them. */
  loseReplies(count: number): void;
  /** Refuses the next batches as too large. */
  refuse(count: number): void;
  stop(): Promise<void>;
}

interface Answer {
  readonly body: Buffer;
  readonly isFlexible: boolean;
}

export async function startKafkaBroker(options: KafkaBrokerOptions): Promise<KafkaBroker> {
  const partitions: KafkaRecord[][] = Array.from({ length: options.partitions }, () => []);
  const nextSequence = new Map<string, number>();
  const producers = new Set<bigint>();
  const sockets = new Set<net.Socket>();
  let lostReplies = 0;
  let refusals = 0;
  let repeated = 0;

  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    const behind = options.behind === undefined ? null : net.connect(options.behind, '127.0.0.1');
    behind?.on('error', () => socket.destroy());
    behind?.on('data', (bytes) => socket.write(bytes));
    socket.on('close', () => behind?.destroy());
    let received = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      while (received.length >= 4 && received.length >= 4 + received.readInt32BE()) {
        const frame = received.subarray(0, 4 + received.readInt32BE());
        received = received.subarray(frame.length);
        onRequest(socket, frame, behind);
      }
    });
  });

  function onRequest(socket: net.Socket, frame: Buffer, behind: net.Socket | null): void {
    const reader = new KafkaReader(frame.subarray(4));
    const api = reader.int16();
    const version = reader.int16();
    const correlation = int32(reader.int32());
    reader.text();
    if (version !== VERSIONS.get(api)) throw new Error(`version ${version} of ${api} is not served`);
    // The id and epoch before the final tags: that of librdkafka wants -1 for none, brokers of Kafka ignore them.
    if (behind !== null && api === INIT_PRODUCER_ID) frame.fill(0xff, frame.length - 11, frame.length - 1);
    if (behind !== null && (api === PRODUCE || api === INIT_PRODUCER_ID)) return void behind.write(frame);
    const answer = answerTo(api, reader);
    if (answer === null) return void socket.destroy();
    const head = answer.isFlexible ? Buffer.concat([correlation, NO_TAGS]) : correlation;
    socket.write(Buffer.concat([int32(head.length + answer.body.length), head, answer.body]));
  }

  function answerTo(api: number, reader: KafkaReader): Answer | null {
    if (api === PRODUCE) return produce(reader);
    // All others but the handshake end the header with tags.
    if (api === SASL_HANDSHAKE) {
      return { isFlexible: false, body: Buffer.concat([int16(0), array([text('PLAIN')])]) };
    }
    reader.tags();
    if (api === API_VERSIONS) return { isFlexible: false, body: apiVersions() };
    if (api === METADATA) return { isFlexible: true, body: metadata(reader) };
    if (api === SASL_AUTHENTICATE) return { isFlexible: true, body: authenticate(reader) };
    const id = BigInt(1_000 + producers.size);
    producers.add(id);
    return { isFlexible: true, body: Buffer.concat([int32(0), int16(0), int64(id), int16(0), NO_TAGS]) };
  }

  function apiVersions(): Buffer {
    const keys = [...VERSIONS].map(([api, version]) =>
      Buffer.concat([int16(api), int16(version), int16(version), NO_TAGS]),
    );
    return Buffer.concat([int16(0), compactArray(keys), int32(0), NO_TAGS]);
  }

  function metadata(reader: KafkaReader): Buffer {
    const asked = reader.compactArray(() => {
      const name = reader.compactText() ?? '';
      reader.tags();
      return name;
    });
    const self = Buffer.concat([int32(1), compactText('127.0.0.1'), int32(port()), NO_TEXT, NO_TAGS]);
    const partition = (index: number) =>
      Buffer.concat([
        ...[int16(0), int32(index), int32(1), int32(0)],
        ...[compactArray([int32(1)]), compactArray([int32(1)]), compactArray([]), NO_TAGS],
      ]);
    const topics = asked.map((name) => {
      const isKnown = name === options.topic;
      const parts = isKnown ? partitions.map((_, index) => partition(index)) : [];
      return Buffer.concat([
        ...[int16(isKnown ? 0 : UNKNOWN_TOPIC), compactText(name), int8(0)],
        ...[compactArray(parts), int32(0), NO_TAGS],
      ]);
    });
    const cluster = Buffer.concat([compactText('cluster'), int32(1)]);
    return Buffer.concat([int32(0), compactArray([self]), cluster, compactArray(topics), int32(0), NO_TAGS]);
  }

  function authenticate(reader: KafkaReader): Buffer {
    const [, username, password] = reader
      .take(reader.unsigned() - 1)
      .toString()
      .split('\0');
    const { sasl } = options;
    const isRight = username === sasl?.username && password === sasl?.password;
    // As some brokers do, with what was sent.
    const message = isRight ? NO_TEXT : compactText(`wrong password ${password}`);
    return Buffer.concat([
      ...[int16(isRight ? 0 : SASL_FAILED), message, compactBytes(Buffer.alloc(0))],
      ...[int64(0n), NO_TAGS],
    ]);
  }

  function produce(reader: KafkaReader): Answer | null {
    reader.text();
    if (reader.int16() !== -1) throw new Error('all replicas have to acknowledge');
    reader.int32();
    const isRefused = refusals > 0;
    if (isRefused) refusals -= 1;
    const topics = reader.array(() => {
      const name = reader.text() ?? '';
      const answers = reader.array(() => {
        const index = reader.int32();
        const bytes = reader.take(reader.int32());
        const error = isRefused ? MESSAGE_TOO_LARGE : store(index, readBatch(bytes));
        return Buffer.concat([int32(index), int16(error), int64(0n), int64(-1n), int64(0n)]);
      });
      return Buffer.concat([text(name), array(answers)]);
    });
    if (lostReplies > 0) {
      lostReplies -= 1;
      return null;
    }
    return { isFlexible: false, body: Buffer.concat([array(topics), int32(0)]) };
  }

  function store(index: number, { producerId, baseSequence, records }: KafkaBatch): number {
    const key = `${producerId} ${index}`;
    const expected = nextSequence.get(key) ?? 0;
    if (!producers.has(producerId) || baseSequence > expected) return OUT_OF_ORDER;
    if (baseSequence < expected) {
      repeated += 1;
      return 0;
    }
    nextSequence.set(key, expected + records.length);
    partitions[index]?.push(...records);
    return 0;
  }

  const port = () => (server.address() as net.AddressInfo).port;
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    port: port(),
    partitions,
    producers,
    repeated: () => repeated,
    loseReplies: (count) => {
      lostReplies = count;
    },
    refuse: (count) => {
      refusals = count;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
