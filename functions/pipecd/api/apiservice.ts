/** Client of v0.57's APIService, which takes API keys. It cannot list pipeds or create keys. */
import { createClient } from "@connectrpc/connect";
import { transportTo } from "./connections.ts";
import { type EventWrites, eventWrites } from "./events.ts";
import { APIService } from "./generated/c/apiservice_pb.ts";
import { withApiKey } from "./interceptors.ts";
import { applicationRecord, gitPath } from "./records-c.ts";
import type { Applications, ClientOptions, PipedWrites } from "./services.ts";
import { applicationsOf, pipedsOf } from "./shared-c.ts";
import { wrapCall } from "./wrapcall.ts";

/** Creates a client with an API key. */
export function apiService(
  { api, signal }: Pick<ClientOptions, "api" | "signal">,
  apiKey: string,
): { readonly pipeds: PipedWrites; readonly applications: Applications; readonly events: EventWrites } {
  const service = createClient(APIService, transportTo(api, withApiKey(apiKey)));
  const context = { signal };

  return {
    pipeds: pipedsOf(service, context),
    events: eventWrites(service, context),
    applications: {
      ...applicationsOf(service, context),
      async list(pipedId) {
        // A limit would truncate the list: without labels, the server does not page.
        const request = { pipedId, limit: 0 };
        const { applications } = await wrapCall(
          "ListApplications",
          service.listApplications(request, context),
        );
        return applications.map(applicationRecord).filter(({ deleted }) => !deleted);
      },
      async update({ id, repository, path }, { pipedID, provider, configFilename }) {
        const request = {
          applicationId: id,
          pipedId: pipedID,
          platformProvider: provider,
          // Repository and path are required and ignored.
          gitPath: gitPath({ repository, path, configFilename }),
        };
        await wrapCall("UpdateApplication", service.updateApplication(request, context));
      },
    },
  };
}
