/** Git paths of applications, based on the repositories that the piped has reported. */
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  ApplicationGitPathSchema,
  Piped,
} from "../../../../functions/pipecd/api/generated/c/model_pb.ts";
import { folderUrl } from "../giturl.ts";
import { internal, notFound, RpcError } from "../status.ts";

/** Takes remote and branch from the piped and ignores those of the request. */
export function gitPathIn(
  piped: Piped,
  { repo: requested, path, configFilename }: MessageShape<typeof ApplicationGitPathSchema>,
): MessageInitShape<typeof ApplicationGitPathSchema> {
  const repo = piped.repositories.find(({ id }) => id === requested?.id);
  if (repo === undefined) {
    throw new RpcError(notFound, "The requested repository is not found in the Piped configuration");
  }
  const url = folderUrl(repo.remote, path, repo.branch);
  if (url === undefined) throw new RpcError(internal, "Failed to make GitPath URL");
  return { repo, path, configFilename, url };
}
