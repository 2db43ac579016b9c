interface Open {
  readonly name: string;
  calls: number;
  /** Whether it calls itself in a pipeline, or runs something in the background. */
  multiplies: boolean;
}

/** Functions whose bodies are being read: whether they start themselves without end. */
export class FunctionCalls {
  readonly #open: Open[] = [];

  enter(name: string): void {
    this.#open.push({ name, calls: 0, multiplies: false });
  }

  call(name: string, piped: boolean): void {
    const inner = this.#open.at(-1);
    if (inner?.name !== name) return;
    inner.calls += 1;
    inner.multiplies ||= piped;
  }

  background(): void {
    const inner = this.#open.at(-1);
    if (inner !== undefined) inner.multiplies = true;
  }

  /** Leaves the innermost one. Returns its name, and whether it calls itself so that its processes multiply. */
  leave(): { readonly name: string; readonly forks: boolean } {
    const left = this.#open.pop();
    return { name: left?.name ?? '', forks: left !== undefined && left.calls > 0 && left.multiplies };
  }
}
