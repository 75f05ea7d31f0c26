/** There is no project, or its configuration is not valid. */
export class ProjectError extends Error {
  override readonly name = "ProjectError";
}
