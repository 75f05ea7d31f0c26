/** Calls that WebService and APIService of v0.57 share. Their field numbers differ. */
import type { CallOptions } from "@connectrpc/connect";
import { unlessNotFound } from "./errors.ts";
import type { Application, ApplicationKind } from "./generated/c/model_pb.ts";
import type { NewApplication } from "./model.ts";
import { applicationRecord, gitPath, kindOfC } from "./records-c.ts";
import type { Applications, PipedWrites } from "./services.ts";
import { wrapCall } from "./wrapcall.ts";

type Call<Request, Response> = (request: Request, options: CallOptions) => Promise<Response>;
type OfPiped = Call<{ readonly pipedId: string }, unknown>;
type OfApplication = Call<{ readonly applicationId: string }, unknown>;

/** A client of either service. */
export interface ServiceC {
  readonly registerPiped: Call<
    { readonly name: string; readonly desc: string },
    { readonly id: string; readonly key: string }
  >;
  readonly updatePiped: Call<
    { readonly pipedId: string; readonly name: string; readonly desc: string },
    unknown
  >;
  readonly enablePiped: OfPiped;
  readonly disablePiped: OfPiped;
  readonly getApplication: Call<
    { readonly applicationId: string },
    { readonly application?: Application | undefined }
  >;
  readonly addApplication: Call<
    {
      name: string;
      pipedId: string;
      gitPath: ReturnType<typeof gitPath>;
      kind: ApplicationKind;
      description: string;
      labels: { [key: string]: string };
      platformProvider: string;
    },
    { readonly applicationId: string }
  >;
  readonly enableApplication: OfApplication;
  readonly deleteApplication: OfApplication;
}

/** Calls for pipeds that both services have. */
export const pipedsOf = (service: ServiceC, context: CallOptions): PipedWrites => ({
  async register({ name, description }) {
    const request = { name, desc: description };
    const { id, key } = await wrapCall("RegisterPiped", service.registerPiped(request, context));
    return { id, key, keyID: undefined };
  },
  async enable(pipedId) {
    await wrapCall("EnablePiped", service.enablePiped({ pipedId }, context));
  },
  async disable(pipedId) {
    await wrapCall("DisablePiped", service.disablePiped({ pipedId }, context));
  },
  async update(pipedId, { name, description }) {
    await wrapCall("UpdatePiped", service.updatePiped({ pipedId, name, desc: description }, context));
  },
});

/** The request fields of a new application that both services have. */
export const newApplication = ({
  name,
  pipedID,
  kind,
  provider,
  description,
  labels,
  ...place
}: NewApplication) => ({
  name,
  pipedId: pipedID,
  gitPath: gitPath(place),
  kind: kindOfC(kind),
  description,
  labels: { ...labels },
  platformProvider: provider,
});

/** Calls for applications that both services have. */
export const applicationsOf = (
  service: ServiceC,
  context: CallOptions,
): Pick<Applications, "get" | "add" | "enable" | "delete" | "removal"> => ({
  removal: "Deleted",
  async get(applicationId) {
    const answer = await unlessNotFound(
      wrapCall("GetApplication", service.getApplication({ applicationId }, context)),
    );
    return answer?.application && applicationRecord(answer.application);
  },
  async add(application) {
    const request = newApplication(application);
    return (await wrapCall("AddApplication", service.addApplication(request, context))).applicationId;
  },
  async enable(applicationId) {
    await wrapCall("EnableApplication", service.enableApplication({ applicationId }, context));
  },
  async delete(applicationId) {
    await wrapCall("DeleteApplication", service.deleteApplication({ applicationId }, context));
  },
});
