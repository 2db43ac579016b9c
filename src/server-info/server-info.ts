import { z } from 'zod';
import type { ServerService } from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { type HandlersOf, handler } from '../contract/call/handler.js';
import { FEATURES } from './features.js';

/** Facts of the server besides its features. */
export interface ServerFacts {
  readonly version: string;
  /** Largest request message, in bytes. */
  readonly maxMessageBytes: number;
  /** Most evaluations of one batch or stream message. */
  readonly maxBatch: number;
  /** Messages of one stream that may be pending. */
  readonly streamWindow: number;
  /** The revision that this process evaluates with. */
  readonly revision: () => number;
}

/** The RPCs of ServerService. */
export function createServerInfo(facts: ServerFacts): HandlersOf<typeof ServerService> {
  const { version, maxMessageBytes, maxBatch, streamWindow, revision } = facts;
  return {
    getServerInfo: handler(z.object({}), (_input, { principal }) => ({
      version,
      revision: revision(),
      features: FEATURES,
      max_message_bytes: maxMessageBytes,
      max_batch: maxBatch,
      stream_window: streamWindow,
      // Without keys, every caller is anonymous and may call everything.
      is_admin: principal.level !== 'key',
    })),
  };
}
