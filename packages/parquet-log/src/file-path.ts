/** The path of a file by the hour in which it was begun. Its `mark` tells files apart that begin at the same position. */
export function filePath(many: string, begunAtMs: number, first: bigint, mark: string): string {
  const [date, hour] = new Date(begunAtMs).toISOString().split(/[T:]/);
  return `date=${date}/hour=${hour}/${many}-${String(first).padStart(20, '0')}-${mark}.parquet`;
}

/** Matches such paths; marks are eight hex digits. */
export function filePattern(many: string): RegExp {
  return new RegExp(`^date=\\d{4}-\\d\\d-\\d\\d/hour=\\d\\d/${many}-\\d{20}-[0-9a-f]{8}\\.parquet$`);
}
