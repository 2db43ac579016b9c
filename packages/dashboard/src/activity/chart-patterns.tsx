import { useId } from 'react';
import { DecisionBadge, type Sign } from '../control-parts/decision-badge.js';
import { LAYERS, type Layer, type LayerWords } from './bucket-counts.js';

/** What distinguishes the layers besides their colors. */
function Strokes({ layer }: { readonly layer: Layer }) {
  switch (layer) {
    case 'deny':
    case 'allow':
      return null;
    case 'steer':
      return <path className="strokes" d="M-1 9 9 -1 M-2 2 2 -2 M6 10 10 6" />;
    case 'observe':
      return <path className="strokes" d="M0 2H8 M0 6H8" />;
    case 'error':
      return <path className="strokes" d="M0 0 8 8 M8 0 0 8" />;
  }
}

/** The fill of each layer, for references by `url(#…)`: one is plain, the others have lines in three directions. */
export function ChartPatterns({ id }: { readonly id: string }) {
  return (
    <defs>
      {LAYERS.map((layer) => (
        <pattern key={layer} id={`${id}-${layer}`} width="8" height="8" patternUnits="userSpaceOnUse">
          <rect className={`fill ${layer}`} width="8" height="8" />
          <Strokes layer={layer} />
        </pattern>
      ))}
    </defs>
  );
}

interface ChartLegendProps {
  readonly layers: readonly Layer[];
  readonly words: LayerWords;
}

/** Names the fill of each layer. */
export function ChartLegend({ layers, words }: ChartLegendProps) {
  const id = useId();
  return (
    <ul className="chart-legend" aria-label="Fills of the bars">
      {layers.map((layer) => (
        <li key={layer}>
          <svg width="22" height="16" aria-hidden="true">
            <ChartPatterns id={id} />
            <rect width="22" height="16" rx="3" fill={`url(#${id}-${layer})`} />
          </svg>
          <DecisionBadge sign={signOfLayer(layer)} word={words[layer] ?? layer} />
        </li>
      ))}
    </ul>
  );
}

export function signOfLayer(layer: Layer): Sign {
  return layer === 'allow' ? 'safe' : layer;
}
