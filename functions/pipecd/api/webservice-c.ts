/** Client of v0.57's WebService, as an administrator of the project. */
import { createClient } from "@connectrpc/connect";
import { transportTo } from "./connections.ts";
import { type Events, eventReads } from "./events.ts";
import { APIKey_Role, ApplicationKind } from "./generated/c/model_pb.ts";
import { WebService } from "./generated/c/webservice_pb.ts";
import { asAdministrator } from "./interceptors.ts";
import { applicationRecord, deployTargetsByPlugin, pipedRecord } from "./records-c.ts";
import type { ClientOptions, PipecdClient } from "./services.ts";
import { applicationsOf, newApplication, pipedsOf } from "./shared-c.ts";
import { wrapCall } from "./wrapcall.ts";

export function webServiceC(options: ClientOptions): PipecdClient & {
  readonly apiKeys: NonNullable<PipecdClient["apiKeys"]>;
  readonly events: Events;
} {
  const { web, signal, profile, projectID, encryptionKey } = options;
  const serviceAs = (subject?: string) =>
    createClient(
      WebService,
      transportTo(web, asAdministrator({ profile, projectID, encryptionKey, subject })),
    );
  const service = serviceAs();
  const context = { signal };
  const disableOldKeys = async (pipedId: string): Promise<void> => {
    await wrapCall("DeleteOldPipedKeys", service.deleteOldPipedKeys({ pipedId }, context));
  };

  return {
    environments: undefined,
    events: { ...eventReads(service, context), register: undefined, apiKeyID: undefined },
    pipeds: {
      ...pipedsOf(service, context),
      async register(piped) {
        const { keyID } = piped;
        return { ...(await pipedsOf(serviceAs(keyID), context).register(piped)), keyID };
      },
      async list({ enabled } = {}) {
        const request = { withStatus: true, options: enabled === undefined ? {} : { enabled } };
        const { pipeds } = await wrapCall("ListPipeds", service.listPipeds(request, context));
        return pipeds.map(pipedRecord);
      },
      async newKey(id, keyID) {
        // PipeCD rejects a third key.
        await disableOldKeys(id);
        const { key } = await wrapCall(
          "RecreatePipedKey",
          serviceAs(keyID).recreatePipedKey({ id }, context),
        );
        return key;
      },
      disableOldKeys,
    },
    applications: {
      ...applicationsOf(service, context),
      async list(pipedId) {
        // Without options, the server crashes.
        const request = { options: { enabled: true, pipedId } };
        const { applications } = await wrapCall(
          "ListApplications",
          service.listApplications(request, context),
        );
        // Before v0.43.0 the server ignores the piped.
        return applications
          .map(applicationRecord)
          .filter(({ deleted, pipedID }) => !deleted && pipedID === pipedId);
      },
      async add(application) {
        const request = {
          ...newApplication(application),
          deployTargetsByPlugin: deployTargetsByPlugin(application.deployTargets),
        };
        return (await wrapCall("AddApplication", service.addApplication(request, context))).applicationId;
      },
      async update({ id, name }, { pipedID, provider, configFilename, deployTargets }) {
        const request = {
          applicationId: id,
          // Required and ignored.
          name,
          kind: ApplicationKind.KUBERNETES,
          pipedId: pipedID,
          platformProvider: provider,
          deployTargetsByPlugin: deployTargetsByPlugin(deployTargets),
          configFilename,
        };
        await wrapCall("UpdateApplication", service.updateApplication(request, context));
      },
    },
    apiKeys: {
      async list() {
        // The answer may contain hashes, so only these fields are returned.
        const { keys } = await wrapCall("ListAPIKeys", service.listAPIKeys({ options: {} }, context));
        return keys.map(({ id, name, disabled }) => ({ id, name, disabled }));
      },
      async generate(name) {
        const request = { name, role: APIKey_Role.READ_WRITE };
        return (await wrapCall("GenerateAPIKey", service.generateAPIKey(request, context))).key;
      },
      async disable(id) {
        await wrapCall("DisableAPIKey", service.disableAPIKey({ id }, context));
      },
    },
  };
}
