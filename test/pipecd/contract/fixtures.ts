/** Fixtures of most groups: pipeds of two projects, and API keys. */
import { beforeAll } from "vitest";
import { APIKey_Role } from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import type { Environment } from "./environment.ts";
import { type Reply, tag } from "./rows.ts";
import type { Target } from "./target.ts";
import { pipedToken } from "./tokens.ts";

/** Ids and keys, set before the tests run. */
export interface Fixtures {
  /** Ids of the pipeds. */
  piped: string;
  otherPiped: string;
  /** Key of the first piped. */
  pipedKey: string;
  /** API keys: read-write and read-only of the project, and one of the other project. */
  writer: string;
  reader: string;
  otherWriter: string;
}

/** Name of the first piped. */
export const pipedName = `contract-piped${tag}`;

/** Metadata of a piped: among its repositories is one without a branch, and one that is only a path. */
export const meta = {
  version: "v0.57.0",
  repositories: [
    { id: "examples", remote: "https://github.com/pipe-cd/examples.git", branch: "master" },
    { id: "nobranch", remote: "https://github.com/pipe-cd/examples.git" },
    { id: "localrepo", remote: "/srv/examples", branch: "master" },
    { id: "short", remote: "git@github.com:pipe-cd/examples.git", branch: "master" },
    { id: "file", remote: "file:///srv/examples.git", branch: "main" },
  ],
  platformProviders: [{ name: "kubernetes-default", type: "KUBERNETES" }],
};

/** Creates the fixtures in a target of v0.57.0. The pipeds have not reported anything yet. */
export function createFixtures(environment: Environment<Target>): Fixtures {
  const { web, admin } = environment;
  const fixtures: Fixtures = {
    piped: "",
    otherPiped: "",
    pipedKey: "",
    writer: "",
    reader: "",
    otherWriter: "",
  };
  beforeAll(async () => {
    const inOther = () => admin({ project: environment.target.otherProject });
    const made = answerOf(await web("registerPiped", { name: pipedName }));
    const other = answerOf(await web("registerPiped", { name: `other-piped${tag}` }, inOther()));
    const role = APIKey_Role.READ_WRITE;
    const name = `op${tag}`;
    Object.assign(fixtures, {
      piped: made.id,
      pipedKey: made.key,
      otherPiped: other.id,
      writer: answerOf(await web("generateAPIKey", { name, role })).key,
      reader: answerOf(await web("generateAPIKey", { name })).key,
      otherWriter: answerOf(await web("generateAPIKey", { name, role }, inOther())).key,
    });
  });
  return fixtures;
}

/** Reports the first piped's metadata before the tests run. */
export function reportPiped(environment: Environment<Target>, fixtures: Fixtures): void {
  beforeAll(async () => {
    const token = pipedToken(environment.target.project, fixtures.piped, fixtures.pipedKey);
    answerOf(await environment.piped("reportPipedMeta", meta, token));
  });
}

function answerOf<Answer>({
  code,
  message,
  answer,
}: Pick<Reply<never>, "code" | "message"> & { readonly answer: Answer | undefined }): Answer {
  if (answer === undefined) throw new Error(`call failed with status ${code}: ${message}`);
  return answer;
}
