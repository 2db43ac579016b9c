/** Makes texts that are stored unreadable without a key. */
export interface Sealer {
  seal(text: string): string;
  /** The text of one that `seal` made; null if that was done with another key. */
  open(sealed: string): string | null;
}

/** Stores texts as they are. */
export const UNSEALED: Sealer = { seal: (text) => text, open: (sealed) => sealed };
