/** The services of a control plane of PipeCD v0.9.0, which has no API for API keys. */
import { Piped_ConnectionStatus } from "@denrei/functions/pipecd/api/generated/l0/model_pb";
import { WebService } from "@denrei/functions/pipecd/api/generated/l0/webservice_pb";
import { PipedService } from "../generated/l0/pipedservice_pb.ts";
import { pipedTokenOf, tokenIn } from "../metadata.ts";
import { type PipedCaller, pipedCaller } from "../pipedtokens.ts";
import { type Plane, tableFaults } from "../plane.ts";
import { openService, type Service } from "../service.ts";
import { StoreError } from "../table.ts";
import { type Claims, isSignedBy } from "../tokens.ts";
import { webApplications } from "./applications.ts";
import { webCaller } from "./callers.ts";
import { webEnvironments, webPipeds } from "./pipeds.ts";
import { openMemory, openStore, type PlaneL0 } from "./plane.ts";
import { stored } from "./rows.ts";
import { pipedRules, webRules } from "./rules.ts";

/** Creates a control plane with an empty datastore. */
export const openPlaneL0 = (plane: Plane): PlaneL0 => ({
  ...plane,
  store: openStore(tableFaults(plane)),
  memory: openMemory(plane.clock),
});

/** Creates all services. */
export function servicesOfL0(plane: PlaneL0): Service[] {
  const { store, projects, outage, seconds } = plane;

  function hasProject(id: string): boolean {
    if (projects.has(id)) return true;
    if (outage.datastore) throw new StoreError("failed");
    return store.projects.has(id);
  }

  return [
    openService<typeof WebService, Claims>({
      port: "web",
      service: WebService,
      handlers: { ...webEnvironments(plane), ...webPipeds(plane), ...webApplications(plane) },
      rules: webRules,
      authenticate: (metadata, method) => webCaller(plane, metadata, method),
      projectOf: ({ project }) => project,
      knows: (metadata) => isSignedBy(tokenIn(metadata) ?? "", plane.encryptionKey),
    }),
    openService<typeof PipedService, PipedCaller>({
      port: "piped",
      service: PipedService,
      handlers: {
        // PipeCD accepts the ping and stores nothing.
        ping: () => ({}),
        reportPipedMeta({ version, cloudProviders, repositories, sealedSecretEncryption }, { id }) {
          stored("failed to update the piped metadata", () =>
            store.pipeds.update(id, (piped) => {
              Object.assign(piped, { version, cloudProviders, repositories });
              if (sealedSecretEncryption !== undefined) piped.sealedSecretEncryption = sealedSecretEncryption;
              // PipeCD never sets it back to offline.
              piped.status = Piped_ConnectionStatus.ONLINE;
              piped.startedAt = seconds();
              piped.updatedAt = seconds();
            }),
          );
          return {};
        },
      },
      rules: pipedRules,
      authenticate: (metadata) =>
        pipedCaller(plane.memory.pipeds, { hasProject, piped: (id) => store.pipeds.get(id) }, metadata),
      projectOf: ({ project }) => project,
      knows(metadata) {
        try {
          const { piped } = pipedTokenOf(metadata);
          return store.pipeds.dump().some(({ id }) => id === piped);
        } catch {
          return false;
        }
      },
    }),
  ];
}
