/** Client of v0.9.0's WebService. */
import { createClient } from "@connectrpc/connect";
import { transportTo } from "./connections.ts";
import { asAdministrator } from "./credentials.ts";
import { called, unlessNotFound } from "./errors.ts";
import { WebService } from "./generated/l0/webservice_pb.ts";
import { applicationRecord, kindOfL0, pipedRecord } from "./records-l0.ts";
import type { ClientOptions, PipecdClient } from "./services.ts";

/** Maximum number of keys of a piped. */
const mostKeys = 3;

export function webServiceL0({ web, signal, ...who }: ClientOptions): PipecdClient {
  const { profile, projectID, encryptionKey } = who;
  const serviceAs = (subject?: string) =>
    createClient(
      WebService,
      transportTo(web, asAdministrator({ profile, projectID, encryptionKey, subject })),
    );
  const service = serviceAs();
  const context = { signal };

  return {
    environments: {
      async list() {
        const { environments } = await called("ListEnvironments", service.listEnvironments({}, context));
        return environments.map(({ id, name }) => ({ id, name }));
      },
      async add({ name, description }) {
        await called("AddEnvironment", service.addEnvironment({ name, desc: description }, context));
      },
    },
    pipeds: {
      async list({ enabled } = {}) {
        const request = { withStatus: true, options: enabled === undefined ? {} : { enabled } };
        const { pipeds } = await called("ListPipeds", service.listPipeds(request, context));
        return pipeds.map(pipedRecord);
      },
      async register({ name, description, environmentIDs, keyID }) {
        const request = { name, desc: description, envIds: [...environmentIDs] };
        const { id, key } = await called("RegisterPiped", serviceAs(keyID).registerPiped(request, context));
        return { id, key, keyID };
      },
      async newKey(id, keyID) {
        const creator = serviceAs(keyID);
        let key = "";
        // A fourth key replaces the oldest one, and there is no other way to end a key.
        for (let made = 0; made < mostKeys; made++)
          ({ key } = await called("RecreatePipedKey", creator.recreatePipedKey({ id }, context)));
        return key;
      },
      endOldKeys: undefined,
      async enable(pipedId) {
        await called("EnablePiped", service.enablePiped({ pipedId }, context));
      },
      async disable(pipedId) {
        await called("DisablePiped", service.disablePiped({ pipedId }, context));
      },
      update: undefined,
    },
    applications: {
      ending: "Disabled",
      async list(pipedID) {
        const request = { options: { enabled: true } };
        const { applications } = await called("ListApplications", service.listApplications(request, context));
        return applications.map(applicationRecord).filter((application) => application.pipedID === pipedID);
      },
      async get(applicationId) {
        const answer = await unlessNotFound(
          called("GetApplication", service.getApplication({ applicationId }, context)),
        );
        return answer?.application && applicationRecord(answer.application);
      },
      async add({ name, pipedID, environmentID, kind, provider, repository, path, configFilename }) {
        const request = {
          name,
          envId: environmentID,
          pipedId: pipedID,
          gitPath: { repo: { id: repository }, path, configFilename },
          kind: kindOfL0(kind),
          cloudProvider: provider,
        };
        return (await called("AddApplication", service.addApplication(request, context))).applicationId;
      },
      async enable(applicationId) {
        await called("EnableApplication", service.enableApplication({ applicationId }, context));
      },
      async delete(applicationId) {
        await called("DisableApplication", service.disableApplication({ applicationId }, context));
      },
      update: undefined,
    },
    apiKeys: undefined,
    events: undefined,
  };
}
