const ROUNDS = 5;

/**
 * The SQL statements of some work, done up to five times until there are none: the fewest of a time. The service has statements of
 * its own in the background, such as upkeep, which now and then fall into the time of the work.
 */
export async function fewestQueries(
  { queries }: { readonly queries: readonly string[] },
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  let fewest: readonly string[] | undefined;
  for (let round = 0; round < ROUNDS && fewest?.length !== 0; round += 1) {
    const before = queries.length;
    await work();
    const made = queries.slice(before);
    if (fewest === undefined || made.length < fewest.length) fewest = made;
  }
  return fewest ?? [];
}
