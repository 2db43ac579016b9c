import { ProtocolError } from '@modelcontextprotocol/server';
import { exactOf, rawOf } from './exact-message.js';

type Data = Record<string, unknown>;

/**
 * Runs a step that is decided about with the numbers that controls see, so that it reads and makes numbers as they were written.
 * `decided` decides about the input, runs the given function if it may, and decides about what it makes or throws.
 */
export async function runExactly<R extends object>(
  input: Data,
  run: (input: Data) => Promise<R>,
  decided: (input: Data, run: (input: Data) => Promise<R>) => Promise<R>,
): Promise<R> {
  const shownInput = exactOf(input);
  let made: R | undefined;
  let shown: R | undefined;
  let thrown: unknown;
  let shownError: unknown;
  try {
    const result = await decided(shownInput, async (changed) => {
      try {
        made = await run(changed === shownInput ? input : rawOf(changed, input));
      } catch (error) {
        thrown = error;
        shownError = exactError(error);
        throw shownError;
      }
      shown = exactOf(made);
      return shown;
    });
    return result === shown && made !== undefined ? made : rawOf(result, made);
  } catch (error) {
    throw error === shownError && shownError !== undefined ? thrown : error;
  }
}

function exactError(error: unknown): unknown {
  if (!(error instanceof ProtocolError)) return error;
  const data = exactOf(error.data);
  return data === error.data ? error : new ProtocolError(error.code, error.message, data);
}
