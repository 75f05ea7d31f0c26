import { NewObject } from "../ui/form/object.tsx";
import { applicationForm } from "./form.tsx";

/** The screen that creates an Application. */
export const NewApplication = () => (
  <NewObject kind={applicationForm} title="Create an Application" spec={{ replicas: 1 }} />
);
