import type { StatsBucket } from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { DecisionBadge } from '../shared/decision-badge.js';
import { Table } from '../shared/table.js';
import { TimeText } from '../shared/time-text.js';

const WIDTH = 800;
const HEIGHT = 140;
/** From the bottom of a bar to its top. */
const LAYERS = ['deny', 'steer', 'observe', 'error'] as const;
type Layer = (typeof LAYERS)[number];

function countOf(bucket: StatsBucket, layer: Layer): number {
  return layer === 'error' ? Number(bucket.errorTotal) : Number(bucket.actionTotals[layer] ?? 0n);
}

function sumOf(bucket: StatsBucket): number {
  return LAYERS.reduce((sum, layer) => sum + countOf(bucket, layer), 0);
}

/** Decisions and errors over time, as bars and as a table. */
export function DecisionsChart({ buckets }: { readonly buckets: readonly StatsBucket[] }) {
  const highest = Math.max(1, ...buckets.map(sumOf));
  const step = WIDTH / Math.max(1, buckets.length);
  return (
    <section className="card chart">
      <h2>Decisions over time</h2>
      <p className="legend">
        {LAYERS.map((layer) => (
          <DecisionBadge key={layer} sign={layer} />
        ))}
        <span className="muted">highest bar: {highest.toLocaleString()}</span>
      </p>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Decisions over time; the table below has the numbers"
      >
        {buckets.map((bucket, index) => (
          <Bar key={bucket.timestamp} bucket={bucket} x={index * step} width={step} highest={highest} />
        ))}
      </svg>
      <p className="axis muted">
        <TimeText time={buckets[0]?.timestamp} isExact />
        <TimeText time={buckets.at(-1)?.timestamp} isExact />
      </p>
      <details>
        <summary>As a table</summary>
        <Table label="Decisions over time" columns={['From', ...LAYERS]}>
          {buckets
            .filter((bucket) => sumOf(bucket) > 0)
            .map((bucket) => (
              <tr key={bucket.timestamp}>
                <td>
                  <TimeText time={bucket.timestamp} isExact />
                </td>
                {LAYERS.map((layer) => (
                  <td key={layer} className="number">
                    {countOf(bucket, layer).toLocaleString()}
                  </td>
                ))}
              </tr>
            ))}
        </Table>
      </details>
    </section>
  );
}

interface BarProps {
  readonly bucket: StatsBucket;
  readonly x: number;
  readonly width: number;
  readonly highest: number;
}

function Bar({ bucket, x, width, highest }: BarProps) {
  let top = HEIGHT;
  return (
    <g>
      {LAYERS.map((layer) => {
        const height = (countOf(bucket, layer) / highest) * HEIGHT;
        top -= height;
        if (height === 0) return null;
        return (
          <rect
            key={layer}
            className={layer}
            x={x + width * 0.1}
            y={top}
            width={width * 0.8}
            height={height}
          />
        );
      })}
    </g>
  );
}
