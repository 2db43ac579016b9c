import { Histogram, type HistogramConfiguration } from 'prom-client';

/** The value of a metric for one set of labels. */
interface Labelled<Value> {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: Value;
}

interface Node<Value> {
  readonly labels: readonly string[];
  readonly below: Map<string, Node<Value>>;
  value?: Value;
}

/**
 * Values by two to four labels. They are looked up by the labels directly: prom-client builds a string of all
 * labels for every change, which costs more than the change. Labels come from a fixed set, so none are
 * removed.
 */
export class LabelledValues<Value> {
  readonly #names: readonly string[];
  readonly #create: () => Value;
  readonly #top: Node<Value> = { labels: [], below: new Map() };
  readonly #all: Labelled<Value>[] = [];

  constructor(names: readonly string[], create: () => Value) {
    this.#names = names;
    this.#create = create;
  }

  /** All values, in the order of their creation. */
  get all(): readonly Labelled<Value>[] {
    return this.#all;
  }

  /** The value for these labels, in the order of their names; created on first use. */
  of(first: string, second: string, third?: string, fourth?: string): Value {
    let node = below(below(this.#top, first), second);
    if (third !== undefined) node = below(node, third);
    if (fourth !== undefined) node = below(node, fourth);
    return node.value ?? this.#add(node);
  }

  #add(node: Node<Value>): Value {
    const value = this.#create();
    node.value = value;
    const labels = Object.fromEntries(this.#names.map((name, index) => [name, node.labels[index] ?? '']));
    this.#all.push({ labels, value });
    return value;
  }
}

function below<Value>(node: Node<Value>, label: string): Node<Value> {
  const known = node.below.get(label);
  if (known !== undefined) return known;
  const created: Node<Value> = { labels: [...node.labels, label], below: new Map() };
  node.below.set(label, created);
  return created;
}

/** A counter, or a value that goes up and down. */
export interface Count {
  value: number;
}

export const newCount = (): Count => ({ value: 0 });

/** Observations, counted by their buckets. */
export class Observations {
  readonly #bounds: readonly number[];
  /** Values in each bucket but in none before it; those beyond the last bound are only in `count`. */
  readonly buckets: number[];
  count = 0;
  sum = 0;

  /** `bounds` are the inclusive upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.buckets = bounds.map(() => 0);
  }

  add(value: number): void {
    this.count += 1;
    this.sum += value;
    const bounds = this.#bounds;
    for (let index = 0; index < bounds.length; index += 1) {
      if (value <= (bounds[index] as number)) {
        this.buckets[index] = (this.buckets[index] as number) + 1;
        return;
      }
    }
  }
}

/** A line of a histogram, in the form in which prom-client renders it. */
interface Line {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A prom-client histogram for observations that are stored here. Nothing is observed on it directly. */
export class LabelledHistogram extends Histogram {
  readonly #options: HistogramConfiguration<string>;
  readonly #values: LabelledValues<Observations>;
  readonly #bounds: readonly number[];

  constructor(
    options: HistogramConfiguration<string>,
    bounds: readonly number[],
    values: LabelledValues<Observations>,
  ) {
    super({ ...options, buckets: [...bounds] });
    this.#options = options;
    this.#bounds = bounds;
    this.#values = values;
  }

  /** Data for the text format; the registry calls it if present, otherwise `get`. */
  async getForPromString(): Promise<object> {
    return this.#with(this.#lines());
  }

  override async get(): ReturnType<Histogram['get']> {
    const values = this.#lines().map(({ metricName, labels, sharedLabels, value }) => ({
      metricName,
      labels: { ...labels, ...sharedLabels },
      value,
    }));
    return this.#with(values) as unknown as Awaited<ReturnType<Histogram['get']>>;
  }

  #with(values: readonly object[]): object {
    const { name, help } = this.#options;
    return { name, help, type: 'histogram', values, aggregator: 'sum' };
  }

  #lines(): Line[] {
    const { name } = this.#options;
    const lines: Line[] = [];
    for (const { labels: sharedLabels, value: seen } of this.#values.all) {
      const add = (suffix: string, labels: Line['labels'], value: number): void => {
        lines.push({ metricName: `${name}_${suffix}`, labels, sharedLabels, value });
      };
      let sum = 0;
      for (const [index, bound] of this.#bounds.entries()) {
        sum += seen.buckets[index] as number;
        add('bucket', { le: bound }, sum);
      }
      add('bucket', { le: '+Inf' }, seen.count);
      add('sum', {}, seen.sum);
      add('count', {}, seen.count);
    }
    return lines;
  }
}
