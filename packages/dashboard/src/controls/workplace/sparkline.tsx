import type { StatsBucket } from '@gen/enforcement/v1/observability_service_pb.js';

type Bucket = Pick<StatsBucket, 'timestamp' | 'matchTotal' | 'errorTotal'>;

interface SparklineProps {
  /** Counts by interval, oldest first. */
  readonly buckets: readonly Bucket[];
  /** What it shows, in words. */
  readonly label: string;
}

const HEIGHT = 48;
/** Share of the width of an interval that its bar takes. */
const FILLED = 0.8;
/** Least height of a bar that counts anything. */
const LEAST = 2;

/** Matches, and errors above them, by interval. */
export function Sparkline({ buckets, label }: SparklineProps) {
  const most = buckets.reduce((max, bucket) => Math.max(max, total(bucket)), 1);
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(LEAST, (count / most) * (HEIGHT - 2)));
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${Math.max(1, buckets.length)} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {buckets.map((bucket, at) => {
        const [matches, errors] = [heightOf(Number(bucket.matchTotal)), heightOf(Number(bucket.errorTotal))];
        return (
          <g key={bucket.timestamp}>
            <rect className="matches" x={at} y={HEIGHT - matches} width={FILLED} height={matches} />
            <rect className="errors" x={at} y={HEIGHT - matches - errors} width={FILLED} height={errors} />
          </g>
        );
      })}
      <line className="base" x1="0" x2={Math.max(1, buckets.length)} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
    </svg>
  );
}

function total({ matchTotal, errorTotal }: Bucket): number {
  return Number(matchTotal + errorTotal);
}
