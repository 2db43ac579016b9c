import { useId } from 'react';
import type { Sign } from '../control-parts/decision-badge.js';
import type { ChartLayer } from './chart-geometry.js';

/** What distinguishes the layers besides their colors. */
function Strokes({ sign }: { readonly sign: Sign }) {
  switch (sign) {
    case 'steer':
      return <path className="strokes" d="M-1 9 9 -1 M-2 2 2 -2 M6 10 10 6" />;
    case 'observe':
      return <path className="strokes" d="M0 2H8 M0 6H8" />;
    case 'error':
      return <path className="strokes" d="M0 0 8 8 M8 0 0 8" />;
    case 'safe':
      return <circle className="dots" cx="4" cy="4" r="1.5" />;
    default:
      return null;
  }
}

interface ChartPatternsProps {
  readonly id: string;
  readonly layers: readonly ChartLayer[];
}

/** The fill of each layer, for references by `url(#…)`: one is plain, the others have lines in different directions. */
export function ChartPatterns({ id, layers }: ChartPatternsProps) {
  return (
    <defs>
      {layers.map(({ sign }) => (
        <pattern key={sign} id={`${id}-${sign}`} width="8" height="8" patternUnits="userSpaceOnUse">
          <rect className={`fill ${sign}`} width="8" height="8" />
          <Strokes sign={sign} />
        </pattern>
      ))}
    </defs>
  );
}

/** Names the fill of each layer. */
export function ChartLegend({ layers }: Pick<ChartPatternsProps, 'layers'>) {
  const id = useId();
  return (
    <ul className="chart-legend" aria-label="Fills of the bars">
      {layers.map(({ sign, word }) => (
        <li key={sign}>
          <svg width="22" height="16" aria-hidden="true">
            <ChartPatterns id={id} layers={layers} />
            <rect width="22" height="16" rx="3" fill={`url(#${id}-${sign})`} />
          </svg>
          {word}
        </li>
      ))}
    </ul>
  );
}
