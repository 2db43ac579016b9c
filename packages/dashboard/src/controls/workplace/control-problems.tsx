import { useQuery } from '@connectrpc/connect-query';
import { type Problem, ProblemSeverity, ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { Link } from 'wouter';
import { eventsAddress } from '../../activity/events-address.js';

const REFRESH_MS = 15_000;
const SUBJECT_TYPE = 'control';

/** What needs attention of a control, above everything else on its page: that its evaluator is missing or fails. */
export function ControlProblems({ controlId }: { readonly controlId: number }) {
  const query = useQuery(ServerService.method.listProblems, {}, { refetchInterval: REFRESH_MS });
  const found = problemsOf(query.data?.problems ?? [], controlId);
  return found.map(({ problem, detail }) => (
    <section
      key={`${problem.kind} ${problem.severity}`}
      className={problem.severity === ProblemSeverity.NOTICE ? 'notice' : 'failing'}
      aria-label="Problem of this control"
    >
      <p>
        <strong>{TITLES[problem.kind] ?? problem.title}</strong>
        {detail !== undefined && <> – {detail}</>}
      </p>
      <p>{problem.detail}</p>
      <p className="links">
        <Link href={eventsAddress({ control: controlId, errors: true, range: '24h' })}>Its errors</Link>
        <Link href="/evaluators">Evaluators of this service</Link>
      </p>
    </section>
  ));
}

/** What is wrong with this control, where the title of the problem may be about several. */
const TITLES: Readonly<Record<string, string>> = {
  evaluator_not_configured: 'An evaluator of this control is not configured',
  control_unreadable: 'The stored definition of this control cannot be read',
  control_failing: 'This control ends in errors',
};

interface ProblemOfControl {
  readonly problem: Problem;
  /** What is known of this control. */
  readonly detail: string | undefined;
}

export function problemsOf(problems: readonly Problem[], controlId: number): readonly ProblemOfControl[] {
  return problems.flatMap((problem) => {
    const subject = problem.subjects.find(
      ({ type, id }) => type === SUBJECT_TYPE && id === String(controlId),
    );
    return subject === undefined ? [] : [{ problem, detail: subject.detail }];
  });
}
