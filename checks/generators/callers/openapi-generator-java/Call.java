import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.DatasetsApi;
import org.openapitools.client.api.DeploymentsApi;
import org.openapitools.client.api.ReinforcementFineTuningJobsApi;
import org.openapitools.client.api.RerankApi;
import org.openapitools.client.model.BaseTrainingConfig;
import org.openapitools.client.model.DatasetFile;
import org.openapitools.client.model.DeploymentScale;
import org.openapitools.client.model.LearningRateScheduler;
import org.openapitools.client.model.ReinforcementFineTuningJob;
import org.openapitools.client.model.RerankRequest;
import org.openapitools.client.model.RerankResult;

/** Calls the client that openapi-generator made. */
public class Call {
  private static final Gson GSON = new GsonBuilder().serializeNulls().create();

  public static void main(String[] args) throws ApiException {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("TUNERANK_BASE_URL"));
    client.setBearerToken(System.getenv("TUNERANK_API_KEY"));
    DeploymentsApi deployments = new DeploymentsApi(client);
    ReinforcementFineTuningJobsApi jobs = new ReinforcementFineTuningJobsApi(client);

    Map<String, Object> readings = new LinkedHashMap<>();
    readings.put("resume", resume(jobs, "answer-quality"));
    readings.put("rerank", rerank(new RerankApi(client)));
    DeploymentScale two = new DeploymentScale().replicaCount(2L);
    readings.put("scale", deployments.scaleDeployment("acme", "support-search", two));
    readings.put("upload", upload(new DatasetsApi(client)));
    ApiException missing = fail(deployments, "missing");
    Object code = GSON.fromJson(missing.getResponseBody(), Map.class).get("code");
    readings.put("error", Map.of("status", missing.getCode(), "code", code));
    readings.put("jobs", readJobs(jobs));
    List<Integer> errors = new ArrayList<>();
    for (int row = 0; row < Integer.parseInt(System.getenv("TUNERANK_ERRORS")); row++) {
      errors.add(fail(deployments, "error-" + row).getCode());
    }
    readings.put("errors", errors);

    System.out.println(GSON.toJson(readings));
    System.exit(0); // OkHttp keeps its threads alive.
  }

  private static Map<String, Object> readJobs(ReinforcementFineTuningJobsApi jobs) {
    Map<String, Object> read = new LinkedHashMap<>();
    for (String id : System.getenv("TUNERANK_JOBS").split(",")) {
      try {
        read.put(id, resume(jobs, id));
      } catch (Exception error) {
        read.put(id, Map.of("failed", error.toString()));
      }
    }
    return read;
  }

  private static Map<String, Object> resume(ReinforcementFineTuningJobsApi jobs, String id)
      throws ApiException {
    ReinforcementFineTuningJob job =
        jobs.resumeReinforcementFineTuningJob("acme", id, Collections.emptyMap());
    BaseTrainingConfig training = job.getTrainingConfig();
    LearningRateScheduler scheduler = training == null ? null : training.getLrScheduler();
    boolean isCosine = scheduler != null && scheduler.getCosine() != null;
    Map<String, String> seconds = job.getAcceleratorSeconds();
    Map<String, Object> reading = new LinkedHashMap<>();
    reading.put("state", job.getState());
    reading.put("code", job.getStatus() == null ? null : job.getStatus().getCode());
    reading.put("percent", job.getJobProgress() == null ? null : job.getJobProgress().getPercent());
    reading.put("displayName", job.getDisplayName());
    reading.put("minLrRatio", isCosine ? scheduler.getCosine().getMinLrRatio() : null);
    reading.put("acceleratorSeconds", seconds == null ? null : seconds.get("accelerator-type-a"));
    return reading;
  }

  private static Map<String, Object> rerank(RerankApi api) throws ApiException {
    RerankRequest request =
        new RerankRequest()
            .query("capital of France")
            .documents(Arrays.asList("Rome.", "Lyon.", "Paris."))
            .model("accounts/acme/models/reranker-small")
            .topN(3L)
            .returnDocuments(true)
            .task("Find the capital.");
    RerankResult best = api.rerankDocuments(request).getData().get(0);
    Map<String, Object> reading = new LinkedHashMap<>();
    reading.put("index", best.getIndex());
    reading.put("relevanceScore", best.getRelevanceScore());
    reading.put("document", best.getDocument());
    return reading;
  }

  private static Map<String, Object> upload(DatasetsApi datasets) throws ApiException {
    File file = new File(System.getenv("TUNERANK_FILE"));
    DatasetFile stored = datasets.uploadDatasetFile("acme", "support-answers", file);
    Map<String, Object> reading = new LinkedHashMap<>();
    reading.put("filename", stored.getFilename());
    reading.put("bytes", stored.getBytes());
    return reading;
  }

  private static ApiException fail(DeploymentsApi deployments, String id) {
    try {
      deployments.scaleDeployment("acme", id, new DeploymentScale().replicaCount(0L));
    } catch (ApiException error) {
      return error;
    }
    throw new IllegalStateException("not refused: " + id);
  }
}
