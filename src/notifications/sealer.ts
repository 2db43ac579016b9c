/** Makes texts that are stored unreadable without a key. */
export interface Sealer {
  seal(text: string): string;
  /** The text of one that `seal` made. Throws if its key is not the present one. */
  open(sealed: string): string;
}

/** Stores texts as they are. */
export const UNSEALED: Sealer = { seal: (text) => text, open: (sealed) => sealed };
