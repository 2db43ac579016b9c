/**
 * Size of a piece of memory that texts are written into one behind the other, in bytes: a handful of ordinary replies.
 * A reply that is not read keeps its whole piece.
 */
const PIECE_BYTES = 32 * 1024;

/** A code unit of UTF-16 takes at most so many bytes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** Of texts that are longer the bytes are counted, so that they get no more room than they need. */
const UNCOUNTED_LENGTH = 1_024;

const NO_PIECE = Buffer.alloc(0);

/**
 * Writes texts as UTF-8 into memory that is asked for in larger pieces. To concatenate strings is quick, but to turn
 * the outcome, a tree of its parts, into bytes takes three times as long as to copy the bytes of the parts.
 */
export class PrintBuffer {
  #piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  /** Where the text begins that is being written. */
  #start = 0;
  #end = 0;

  /** The bytes that `write` adds, which nobody will change. `write` must not call `print` itself. */
  print(write: (out: this) => void): Buffer {
    // What a write that failed has left behind is written over.
    this.#end = this.#start;
    write(this);
    const made = this.#piece.subarray(this.#start, this.#end);
    this.#start = this.#end;
    // A piece of more than the usual size was for this text alone, and goes with it.
    if (this.#piece.length > PIECE_BYTES) this.#take(NO_PIECE, 0);
    return made;
  }

  text(text: string): void {
    const { length } = text;
    this.#makeRoom(length > UNCOUNTED_LENGTH ? Buffer.byteLength(text) : length * MAX_BYTES_PER_UNIT);
    this.#end += this.#piece.write(text, this.#end);
  }

  bytes(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#piece.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#piece.length) return;
    const written = this.#end - this.#start;
    const needed = written + bytes;
    // Twice the need, so that a text of many parts is not copied for each of them.
    const size = needed > PIECE_BYTES ? 2 * needed : PIECE_BYTES;
    const piece = Buffer.allocUnsafeSlow(size);
    this.#piece.copy(piece, 0, this.#start, this.#end);
    this.#take(piece, written);
  }

  #take(piece: Buffer<ArrayBuffer>, written: number): void {
    this.#piece = piece;
    this.#start = 0;
    this.#end = written;
  }
}
