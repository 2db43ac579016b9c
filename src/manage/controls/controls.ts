import type { ControlService as ControlServiceDesc } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import type { TemplateService as TemplateServiceDesc } from '../../../gen/proto/enforcement/v1/template_service_pb.js';
import type { FurtherProblems, HandlersOf } from '../../contract/call/handler.js';
import { createControlClone } from './control-clone.js';
import { controlHandlers } from './control-handlers.js';
import { createReviewer, type Reviewer, type ReviewOptions } from './control-review.js';
import { type ControlServiceOptions, createControlService } from './control-service.js';
import { createControlUsers } from './control-users.js';
import { createControlVersions } from './control-versions.js';
import { createExpressionInspector } from './expression-handler.js';
import type { RegisteredTypesOf } from './expression-inspection.js';
import { createFurtherProblems } from './further-problems.js';
import { templateHandlers } from './template-handlers.js';

export interface ControlsOptions extends Omit<ControlServiceOptions, 'reviewer'>, ReviewOptions {
  readonly registeredTypes: RegisteredTypesOf;
}

export interface Controls {
  readonly controls: HandlersOf<typeof ControlServiceDesc>;
  readonly templates: HandlersOf<typeof TemplateServiceDesc>;
  readonly reviewer: Reviewer;
  readonly furtherProblems: FurtherProblems;
}

/** Controls with their versions and links, and templates of controls. */
export function createControls(options: ControlsOptions): Controls {
  const { database, registry } = options;
  const reviewer = createReviewer(options);
  const all = { ...options, reviewer };
  const furtherProblems = createFurtherProblems({ ...options, client: database.client });
  return {
    controls: controlHandlers(
      createControlService(all),
      createControlVersions(all),
      createControlUsers(options),
      createControlClone(options),
      createExpressionInspector(database.client, options.registeredTypes),
      registry,
      furtherProblems,
    ),
    templates: templateHandlers(registry, reviewer, database.client),
    reviewer,
    furtherProblems,
  };
}
