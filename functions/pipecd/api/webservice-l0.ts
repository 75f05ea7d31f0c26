/** Client of v0.9.0's WebService. */
import { createClient } from "@connectrpc/connect";
import { transportTo } from "./connections.ts";
import { unlessNotFound } from "./errors.ts";
import { WebService } from "./generated/l0/webservice_pb.ts";
import { asAdministrator } from "./interceptors.ts";
import { applicationRecord, kindOfL0, pipedRecord } from "./records-l0.ts";
import type { ClientOptions, PipecdClient } from "./services.ts";
import { wrapCall } from "./wrapcall.ts";

/** Maximum number of keys of a piped. */
const maxKeys = 3;

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
        const { environments } = await wrapCall("ListEnvironments", service.listEnvironments({}, context));
        return environments.map(({ id, name }) => ({ id, name }));
      },
      async add({ name, description }) {
        await wrapCall("AddEnvironment", service.addEnvironment({ name, desc: description }, context));
      },
    },
    pipeds: {
      async list({ enabled } = {}) {
        const request = { withStatus: true, options: enabled === undefined ? {} : { enabled } };
        const { pipeds } = await wrapCall("ListPipeds", service.listPipeds(request, context));
        return pipeds.map(pipedRecord);
      },
      async register({ name, description, environmentIDs, keyID }) {
        const request = { name, desc: description, envIds: [...environmentIDs] };
        const { id, key } = await wrapCall("RegisterPiped", serviceAs(keyID).registerPiped(request, context));
        return { id, key, keyID };
      },
      async newKey(id, keyID) {
        const creator = serviceAs(keyID);
        let key = "";
        // A fourth key replaces the oldest one, and there is no other way to end a key.
        for (let made = 0; made < maxKeys; made++)
          ({ key } = await wrapCall("RecreatePipedKey", creator.recreatePipedKey({ id }, context)));
        return key;
      },
      disableOldKeys: undefined,
      async enable(pipedId) {
        await wrapCall("EnablePiped", service.enablePiped({ pipedId }, context));
      },
      async disable(pipedId) {
        await wrapCall("DisablePiped", service.disablePiped({ pipedId }, context));
      },
      update: undefined,
    },
    applications: {
      removal: "Disabled",
      async list(pipedID) {
        const request = { options: { enabled: true } };
        const { applications } = await wrapCall(
          "ListApplications",
          service.listApplications(request, context),
        );
        return applications.map(applicationRecord).filter((application) => application.pipedID === pipedID);
      },
      async get(applicationId) {
        const answer = await unlessNotFound(
          wrapCall("GetApplication", service.getApplication({ applicationId }, context)),
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
        return (await wrapCall("AddApplication", service.addApplication(request, context))).applicationId;
      },
      async enable(applicationId) {
        await wrapCall("EnableApplication", service.enableApplication({ applicationId }, context));
      },
      async delete(applicationId) {
        await wrapCall("DisableApplication", service.disableApplication({ applicationId }, context));
      },
      update: undefined,
    },
    apiKeys: undefined,
    events: undefined,
  };
}
