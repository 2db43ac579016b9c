import type { IncomingHttpHeaders } from 'node:http';

/** What a lane serves, by path and media type, both exactly as clients send them. */
export interface LaneTable<Entry> {
  add(path: string, mediaType: string, entry: Entry): void;
  find(path: string | undefined, headers: IncomingHttpHeaders): Entry | undefined;
}

export function createLaneTable<Entry>(): LaneTable<Entry> {
  const paths = new Map<string | undefined, Map<string | undefined, Entry>>();
  return {
    add(path, mediaType, entry) {
      const types = paths.get(path) ?? new Map<string | undefined, Entry>();
      paths.set(path, types.set(mediaType, entry));
    },
    // Nearly all other requests differ in their path.
    find: (path, headers) => paths.get(path)?.get(headers['content-type']),
  };
}
