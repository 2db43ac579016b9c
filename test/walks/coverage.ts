import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** How often each function of a file was called, by the function. */
export type Counts = ReadonlyMap<string, number>;

/** The functions that were called, by their source file. */
export type Calls = ReadonlyMap<string, Counts>;

interface CoveredScript {
  readonly url: string;
  readonly functions: readonly CoveredFunction[];
}

interface CoveredFunction {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}

/** Takes the calls since the last look from a service that was started with `preload.mjs`. */
export async function takeCalls(socketPath: string, compiledRoot: string): Promise<Calls> {
  const scripts = JSON.parse(await text(net.connect(socketPath))) as readonly CoveredScript[];
  const calls = new Map<string, Counts>();
  for (const { url, functions } of scripts) {
    const file = sourceOf(url, compiledRoot);
    if (file !== undefined) calls.set(file, countsOf(functions));
  }
  return calls;
}

/** The source of a compiled module; undefined for modules of others, and for generated ones. */
function sourceOf(url: string, compiledRoot: string): string | undefined {
  if (!url.startsWith('file://')) return undefined;
  const file = path.relative(compiledRoot, fileURLToPath(url)).split(path.sep).join('/');
  return /^(src|packages)\//.test(file) ? file.replace(/\.js$/, '.ts') : undefined;
}

function countsOf(functions: readonly CoveredFunction[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { functionName, ranges } of functions) {
    const [whole] = ranges;
    if (whole !== undefined && whole.count > 0)
      counts.set(`${functionName} at ${whole.startOffset}`, whole.count);
  }
  return counts;
}
