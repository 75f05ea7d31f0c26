/** Creating an Application. */
import { NewObject } from "../ui/form/object.tsx";
import { applicationForm } from "./fields.tsx";

/** The screen. */
export const NewApplication = () => (
  <NewObject kind={applicationForm} title="Create an Application" spec={{ replicas: 1 }} />
);
