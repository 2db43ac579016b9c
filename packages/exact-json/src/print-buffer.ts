/**
 * Size of a buffer to which texts are written in sequence, in bytes: a handful of ordinary replies. An unread
 * reply retains its whole buffer.
 */
const PIECE_BYTES = 32 * 1024;

/** Most bytes in UTF-8 of a UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;
/** For longer texts the bytes are counted, so that no excess memory is allocated. */
const UNCOUNTED_LENGTH = 1_024;

/**
 * Writes texts as UTF-8 to memory allocated in larger pieces. String concatenation is fast, but encoding the
 * result, a tree of its parts, takes three times as long as copying the bytes of the parts.
 */
export class PrintBuffer {
  #piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  /** Start of the current text. */
  #start = 0;
  #end = 0;

  /** The bytes added by `write`, which do not change afterwards. `write` must not call `print` itself. */
  print(write: (out: this) => void): Buffer {
    // Output of a failed write is overwritten.
    this.#end = this.#start;
    write(this);
    const made = this.#piece.subarray(this.#start, this.#end);
    this.#start = this.#end;
    // A piece of more than the usual size is for this text alone, and is released with it.
    if (this.#piece.length > PIECE_BYTES) this.#take(Buffer.alloc(0), 0);
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
    // Twice the size, so that a text of many parts is not copied for each of them.
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
