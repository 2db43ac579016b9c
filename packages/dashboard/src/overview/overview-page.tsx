import { HaltScope } from '@gen/enforcement/v1/halt_service_pb.js';
import { RangeField, useRange } from '../activity/range-field.js';
import { FirstEvening } from '../first-evening/first-evening.js';
import { useFirstSteps } from '../first-evening/use-first-steps.js';
import { HaltButton } from '../halts/halt-button.js';
import { ServerCard } from '../health/server-card.js';
import { useServer } from '../health/use-server.js';
import { VerdictView } from '../health/verdict-view.js';
import { Page } from '../ui/page/page.js';
import { Fleet } from './fleet.js';
import { Outcomes } from './outcomes.js';
import './overview.css';

/** Whether all of it works, what became of the steps of all agents in a time range, and how the server is. */
export default function OverviewPage() {
  const [range] = useRange();
  const server = useServer();
  const steps = useFirstSteps();
  const isCounted = server.info?.state?.eventsEnabled !== false;
  return (
    <Page
      title="Overview"
      actions={
        steps.isShown ? undefined : (
          <span className="links">
            {isCounted && <RangeField />}
            <HaltButton label="Halt…" scope={HaltScope.NAMESPACE} />
          </span>
        )
      }
    >
      {steps.isShown ? <FirstEvening steps={steps} server={server} /> : <VerdictView server={server} />}
      {isCounted && !steps.isShown && <Outcomes range={range} />}
      <div className="columns overview-cards">
        <Fleet />
        <ServerCard server={server} />
      </div>
    </Page>
  );
}
