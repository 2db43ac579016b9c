import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import type { MeasuredMetric, MeasuredValue } from '../operations/metrics.js';

/** The period that the values cover. */
export interface MeasuredPeriod {
  readonly start: HrTime;
  readonly end: HrTime;
}

/** A metric in the model of OpenTelemetry; undefined for summaries, which have no counterpart there. */
export function metricData(metric: MeasuredMetric, period: MeasuredPeriod): MetricData | undefined {
  const base = {
    descriptor: { name: metric.name, description: metric.help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  switch (metric.type) {
    case 'counter':
      return {
        ...base,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: points(metric.values, period),
      };
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: points(metric.values, period) };
    case 'histogram':
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(metric, period) };
    default:
      return undefined;
  }
}

function points(values: readonly MeasuredValue[], { start, end }: MeasuredPeriod): DataPoint<number>[] {
  return values.flatMap(({ value, labels }) =>
    value === null ? [] : [{ startTime: start, endTime: end, attributes: { ...labels }, value }],
  );
}

type HistogramPoint = Extract<MetricData, { dataPointType: DataPointType.HISTOGRAM }>['dataPoints'][number];

interface Series {
  readonly attributes: Attributes;
  /** Upper bounds with the number of values up to each. */
  readonly buckets: [bound: number, count: number][];
  sum: number;
}

/** Prometheus counts the values up to each bound, OpenTelemetry those between two bounds. */
function histograms({ name, values }: MeasuredMetric, { start, end }: MeasuredPeriod): HistogramPoint[] {
  const all = new Map<string, Series>();
  for (const { value, labels, metricName } of values) {
    const { le, ...attributes } = labels;
    const key = JSON.stringify(attributes);
    const series = all.get(key) ?? { attributes, buckets: [], sum: 0 };
    all.set(key, series);
    if (metricName === `${name}_sum`) series.sum = value ?? 0;
    else if (le !== undefined) series.buckets.push([le === '+Inf' ? Infinity : Number(le), value ?? 0]);
  }
  return [...all.values()].map(({ attributes, buckets, sum }) => {
    const sorted = buckets.toSorted(([one], [other]) => one - other);
    const counts = sorted.map(([, count], index) => count - (sorted[index - 1]?.[1] ?? 0));
    const boundaries = sorted.map(([bound]) => bound).filter(Number.isFinite);
    const value = { buckets: { boundaries, counts }, sum, count: sorted.at(-1)?.[1] ?? 0 };
    return { startTime: start, endTime: end, attributes, value };
  });
}
