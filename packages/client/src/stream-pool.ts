import { type ConnectError, createClient as createRpcClient, type Transport } from '@connectrpc/connect';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { BatchStream } from './batch-stream.js';
import type { Carrier, CarrierEvents } from './carrier.js';
import { isDraining } from './failures.js';
import { pauseMs } from './pause.js';

/** A connection of the client. */
export interface Connection {
  readonly transport: Transport;
  /** The next call opens a new connection; running calls end on the old one. */
  readonly renew?: (() => void) | undefined;
  /** Aborts a pending connection attempt. */
  readonly resetConnection?: (() => void) | undefined;
  /** Sets what is called when the server announced that it ends the connection. */
  readonly onGoaway?: ((callback: () => void) => void) | undefined;
}

export interface StreamPoolOptions {
  readonly connections: readonly Connection[];
  readonly events: CarrierEvents;
  readonly canCancel: () => boolean;
}

/** A carrier of streams. */
export interface StreamPool extends Carrier {
  /** Checks whether streams are silent, after an evaluation timed out. */
  checkSilence(): void;
}

/** Sends batches as messages of EvaluateStream, one stream at a time on each connection, opened on demand. */
export function createStreamPool({ connections, events, canCancel }: StreamPoolOptions): StreamPool {
  const lanes = connections.map(createLane);
  let turn = 0;

  function createLane(connection: Connection): Lane {
    const rpc = createRpcClient(EvaluationService, connection.transport);
    const lane: Lane = {
      connection,
      current: undefined,
      open: new Set(),
      failures: 0,
      retryAt: 0,
      openStream,
    };
    connection.onGoaway?.(() => retire(lane));

    function openStream(): BatchStream {
      const noticed = (): void => {
        if (lane.current !== stream) return;
        lane.current = undefined;
        connection.renew?.();
      };
      const stream: BatchStream = new BatchStream(
        { rpc, canCancel, noticed },
        {
          answered(batch, results) {
            lane.failures = 0;
            events.answered(batch, results);
          },
          lost(batches, error) {
            ended(lane, stream, error);
            if (batches.length > 0) events.lost(batches, error);
          },
        },
      );
      lane.open.add(stream);
      lane.current = stream;
      return stream;
    }
    return lane;
  }

  function ended(lane: Lane, stream: BatchStream, error: ConnectError): void {
    lane.open.delete(stream);
    if (lane.current !== stream) return;
    lane.current = undefined;
    if (isDraining(error)) lane.connection.renew?.();
    // A stream that has answered ended for reasons of its own; another may be opened at once.
    else if (!stream.everAnswered) lane.retryAt = performance.now() + pauseMs(lane.failures++);
  }

  /** The stream that takes the next message: of those that answer, the one with the fewest messages. */
  function nextStream(): BatchStream {
    const now = performance.now();
    turn += 1;
    const inTurn = [...lanes.slice(turn % lanes.length), ...lanes.slice(0, turn % lanes.length)];
    for (const lane of lanes) if (lane.current?.isFinished(now)) retire(lane);
    const streams = inTurn.flatMap((lane) => lane.current ?? []);
    const answering = streams.filter((stream) => stream.everAnswered);
    const opening = streams.find((stream) => !stream.everAnswered);
    // Connections are opened one at a time, so that a restarted service does not meet all of them at once.
    if (opening === undefined) {
      const closed = inTurn.find((lane) => lane.current === undefined && lane.retryAt <= now);
      if (closed !== undefined) return closed.openStream();
    }
    const [first, ...others] = answering;
    if (first !== undefined)
      return others.reduce((least, one) => (one.load < least.load ? one : least), first);
    if (opening !== undefined) return opening;
    const soonest = inTurn.reduce((least, one) => (one.retryAt < least.retryAt ? one : least));
    return soonest.openStream();
  }

  return {
    get hasAnother() {
      return lanes.some(({ current }) => current?.everAnswered === true);
    },
    send: (batch) => nextStream().send(batch),
    checkSilence() {
      for (const lane of lanes) {
        for (const stream of lane.open) {
          if (!stream.isSilent()) continue;
          if (lane.current === stream) retire(lane);
          if (stream.isForgotten()) stream.abandon();
          if (!stream.everAnswered) lane.connection.resetConnection?.();
        }
      }
    },
    close() {
      for (const { open } of lanes) for (const stream of open) stream.close();
    },
  };
}

/** What is sent over one connection. */
interface Lane {
  readonly connection: Connection;
  /** The stream that takes messages. */
  current: BatchStream | undefined;
  /** All streams that have not ended. */
  readonly open: Set<BatchStream>;
  /** Number of streams in a row that ended without an answer. */
  failures: number;
  /** Milliseconds of `performance.now()` until which other connections are preferred. */
  retryAt: number;
  readonly openStream: () => BatchStream;
}

/** The next message opens another stream; this one ends when everything is answered. */
function retire(lane: Lane): void {
  lane.current?.finish();
  lane.current = undefined;
}
