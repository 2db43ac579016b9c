import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import { timeLimited } from '../../contract/call/time-limited.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import { unavailable } from '../../storage/database/errors.js';
import { namespaceNotFound } from './namespace-errors.js';
import { exportedParts } from './namespace-parts.js';
import type { NamespaceRecord } from './namespace-records.js';

/** Exports that run or wait: one at a time holds a view of the database. More are refused, because they would wait long. */
const MAX_EXPORTS = 8;
/** How long a caller may take to read one part, in milliseconds: it holds the view of the database meanwhile. */
const PART_LIMIT_MS = 15_000;
/** How long an export may take, in milliseconds. */
const EXPORT_LIMIT_MS = 300_000;

export interface NamespaceExportOptions {
  readonly database: Pick<Database, 'readAtOnce'>;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** See `PART_LIMIT_MS`. */
  readonly partLimitMs?: number;
}

/** Streams the content of a namespace. */
export interface NamespaceExport {
  /**
   * The records of a namespace, all of one revision, in parts that are read as they are consumed. Throws
   * NAMESPACE_NOT_FOUND, or SERVICE_UNAVAILABLE if too many exports are under way or the records are consumed too slowly.
   */
  records(name: string): AsyncGenerator<{ readonly kind: string; readonly record_json: string }>;
}

export function createNamespaceExport(options: NamespaceExportOptions): NamespaceExport {
  const { database, registry, now, partLimitMs = PART_LIMIT_MS } = options;
  let exports = 0;

  /** Reads the parts, and hands each over to `give`, which is fulfilled when it was taken. */
  function readAll(name: string, give: (part: readonly NamespaceRecord[]) => Promise<void>): Promise<void> {
    const endsAtMs = now() + EXPORT_LIMIT_MS;
    return database.readAtOnce(async (read) => {
      let isFound = false;
      for await (const part of exportedParts(read, name, registry)) {
        isFound = true;
        if (now() > endsAtMs) throw tooSlow();
        await timeLimited(give(part), partLimitMs, () => {
          throw tooSlow();
        });
      }
      if (!isFound) throw namespaceNotFound(name);
    });
  }

  return {
    async *records(name) {
      if (exports >= MAX_EXPORTS) throw unavailable('Too many exports of namespaces are under way.');
      exports += 1;
      try {
        for await (const part of handedOver<readonly NamespaceRecord[]>((give) => readAll(name, give))) {
          for (const { kind, record } of part) yield { kind, record_json: stringifyJson(record) };
        }
      } finally {
        exports -= 1;
      }
    },
  };
}

/** The parts that `produce` gives, each once the one before was taken. `produce` fails when they are not taken any more. */
async function* handedOver<Part>(
  produce: (give: (part: Part) => Promise<void>) => Promise<void>,
): AsyncGenerator<Part> {
  const { readable, writable } = new TransformStream<Part, Part>();
  const writer = writable.getWriter();
  const produced = produce((part) => writer.write(part)).then(
    () => writer.close(),
    (error: unknown) => writer.abort(error),
  );
  // The consumer is told by the stream.
  const ended = produced.catch(() => {});
  try {
    for await (const part of readable) yield part;
  } finally {
    await ended;
  }
}

function tooSlow() {
  return unavailable('The records of the namespace were read too slowly.');
}
