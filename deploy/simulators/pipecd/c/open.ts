/** The services of a control plane of PipeCD v0.57.0. */
import { APIService } from "@denrei/functions/pipecd/api/generated/c/apiservice_pb";
import type { APIKey } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import { WebService } from "@denrei/functions/pipecd/api/generated/c/webservice_pb";
import { PipedService } from "../generated/c/pipedservice_pb.ts";
import { credentialsOf, type Metadata, pipedTokenOf, tokenIn } from "../metadata.ts";
import { type PipedCaller, pipedCaller } from "../pipedtokens.ts";
import { type Plane, tableFaults } from "../plane.ts";
import { openService, type Service } from "../service.ts";
import { type Claims, isSignedBy } from "../tokens.ts";
import { apiApplications } from "./apiapplications.ts";
import { webApiKeys } from "./apikeys.ts";
import { apiCaller, apiKeyId, webCaller } from "./callers.ts";
import { apiEvents, webEvents } from "./events.ts";
import { apiPipeds, webPipeds } from "./pipeds.ts";
import { pipedMethods } from "./pipedservice.ts";
import { openMemory, openStore, type PlaneC, storeHasProject } from "./plane.ts";
import { apiRules, pipedRules, webRules } from "./rules.ts";
import { webApplications } from "./webapplications.ts";

/** Creates a control plane with an empty datastore. */
export const openPlaneC = (plane: Plane): PlaneC => ({
  ...plane,
  store: openStore(tableFaults(plane)),
  deployments: [],
  redis: { lastUsed: new Map(), stats: new Map() },
  memory: openMemory(plane.clock),
});

/** Creates all services. */
export function servicesOfC(plane: PlaneC): Service[] {
  return [
    openService<typeof WebService, Claims>({
      port: "web",
      service: WebService,
      handlers: {
        ...webPipeds(plane),
        ...webApplications(plane),
        ...webApiKeys(plane),
        ...webEvents(plane),
        getMe: (_, { subject, avatarUrl, project }) => ({ subject, avatarUrl, projectId: project }),
      },
      // Deployments and unregistered applications are not simulated.
      empty: ["ListDeployments", "ListUnregisteredApplications"],
      rules: webRules,
      authenticate: (metadata, method) => webCaller(plane, metadata, method),
      projectOf: ({ project }) => project,
      knows: (metadata) => isSignedBy(tokenIn(metadata) ?? "", plane.encryptionKey),
    }),
    openService<typeof APIService, APIKey>({
      port: "api",
      service: APIService,
      handlers: { ...apiPipeds(plane), ...apiApplications(plane), ...apiEvents(plane) },
      rules: apiRules,
      authenticate: (metadata) => apiCaller(plane, metadata),
      projectOf: ({ projectId }) => projectId,
      knows: (metadata) =>
        has(plane.store.apiKeys.dump(), () => apiKeyId(credentialsOf(metadata, "API-KEY"))),
    }),
    openService<typeof PipedService, PipedCaller>({
      port: "piped",
      service: PipedService,
      handlers: pipedMethods(plane),
      rules: pipedRules,
      authenticate: (metadata) =>
        pipedCaller(
          plane.memory.pipeds,
          {
            hasProject: (id) => plane.projects.has(id) || storeHasProject(plane, id),
            piped: (id) => plane.store.pipeds.get(id),
          },
          metadata,
        ),
      projectOf: ({ project }) => project,
      knows: (metadata: Metadata) => has(plane.store.pipeds.dump(), () => pipedTokenOf(metadata).piped),
    }),
  ];
}

function has(rows: readonly { readonly id: string }[], idOf: () => string | undefined): boolean {
  try {
    const expected = idOf();
    return rows.some(({ id }) => id === expected);
  } catch {
    return false;
  }
}
