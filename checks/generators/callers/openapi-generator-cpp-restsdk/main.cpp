// Reads a resumed job with the client that openapi-generator made: a text that begins as a null pointer ends the program.
#include "CppRestOpenAPIClient/model/ReinforcementFineTuningJob.h"

int main() {
  org::openapitools::client::model::ReinforcementFineTuningJob job;
  auto sent = web::json::value::parse(R"({"state":"JOB_STATE_RUNNING","displayName":"second run","chunkSize":200})");
  bool isRead = job.fromJson(sent) && job.getState() == "JOB_STATE_RUNNING" && job.getDisplayName() == "second run";
  return isRead && job.getChunkSize() == 200 ? 0 : 1;
}
