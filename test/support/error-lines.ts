const ERROR = 50;

/**
 * The lines of a log in JSON that tell of errors, but for one that is no matter of a test: a machine with much else to do may
 * keep the database from answering in time.
 */
export function errorLines(lines: readonly string[]): string[] {
  return lines.filter((line) => {
    const { level, storage, reason } = JSON.parse(line);
    return level >= ERROR && !(storage === 'DOWN' && String(reason).includes('no answer'));
  });
}
