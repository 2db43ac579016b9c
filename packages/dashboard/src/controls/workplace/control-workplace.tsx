import type { GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { JsonView } from '../../code/json-view.js';
import { definitionJson } from '../../control-parts/definition-json.js';
import { Disclosure } from '../../ui/disclosure.js';
import { ControlDefinitionView } from './control-definition.js';
import { CoverageCard } from './coverage-card.js';
import { LatestMatches } from './latest-matches.js';
import { MatchesCard } from './matches-card.js';
import { VersionCard } from './version-card.js';
import './workplace.css';

interface ControlWorkplaceProps {
  readonly control: GetControlResponse;
  /** Whether the definition is shown as JSON from the beginning. */
  readonly isJsonOpen: boolean;
}

/** The definition of a control, in words and as JSON, beside what became of it. */
export function ControlWorkplace({ control, isJsonOpen }: ControlWorkplaceProps) {
  const { id, data } = control;
  return (
    <div className="workplace">
      <div>
        <section className="card" aria-label="Definition">
          <ControlDefinitionView control={control} />
          {data !== undefined && (
            <Disclosure summary="As JSON" isOpenAtFirst={isJsonOpen}>
              <JsonView text={definitionJson(data)} label="Definition as JSON" />
            </Disclosure>
          )}
        </section>
      </div>
      <div>
        <MatchesCard control={control} />
        <LatestMatches controlId={id} />
        <CoverageCard control={control} />
        <VersionCard control={control} />
      </div>
    </div>
  );
}
