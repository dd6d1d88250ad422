import com.google.gson.Gson;
import java.io.File;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.DatasetsApi;
import org.openapitools.client.api.DeploymentsApi;
import org.openapitools.client.api.ReinforcementFineTuningJobsApi;
import org.openapitools.client.api.RerankApi;
import org.openapitools.client.model.ReinforcementFineTuningJob;
import org.openapitools.client.model.RerankRequest;
import org.openapitools.client.model.RerankResult;
import org.openapitools.client.model.ScaleDeploymentRequest;
import org.openapitools.client.model.UploadDatasetFileResponse;

/** Calls the client that openapi-generator made. */
public class Call {
  private static final Gson GSON = new Gson();
  private static final Map<String, Object> READINGS = new LinkedHashMap<>();

  public static void main(String[] args) throws ApiException {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("TUNERANK_BASE_URL"));
    client.setBearerToken(System.getenv("TUNERANK_API_KEY"));
    DeploymentsApi deployments = new DeploymentsApi(client);

    resume(new ReinforcementFineTuningJobsApi(client));
    rerank(new RerankApi(client));
    ScaleDeploymentRequest two = new ScaleDeploymentRequest().replicaCount(2);
    READINGS.put("scale", deployments.scaleDeployment("acme", "support-search", two));
    upload(new DatasetsApi(client));
    fail(deployments);

    System.out.println(GSON.toJson(READINGS));
    System.exit(0); // OkHttp keeps its threads alive.
  }

  private static void resume(ReinforcementFineTuningJobsApi jobs) throws ApiException {
    ReinforcementFineTuningJob job =
        jobs.resumeReinforcementFineTuningJob("acme", "answer-quality", Collections.emptyMap());
    Map<String, Object> reading = new LinkedHashMap<>();
    reading.put("state", job.getState().getValue());
    reading.put("acceleratorSeconds", job.getAcceleratorSeconds().get("accelerator-type-a"));
    reading.put("minLrRatio", job.getTrainingConfig().getLrScheduler().getCosine().getMinLrRatio());
    READINGS.put("resume", reading);
  }

  private static void rerank(RerankApi api) throws ApiException {
    RerankRequest request =
        new RerankRequest()
            .query("capital of France")
            .documents(Arrays.asList("Rome.", "Lyon.", "Paris."))
            .model("accounts/acme/models/reranker-small")
            .topN(3)
            .returnDocuments(true)
            .task("Find the capital.");
    RerankResult best = api.rerankDocuments(request).getData().get(0);
    Map<String, Object> reading = new LinkedHashMap<>();
    reading.put("index", best.getIndex());
    reading.put("relevanceScore", best.getRelevanceScore());
    reading.put("document", best.getDocument());
    READINGS.put("rerank", reading);
  }

  private static void upload(DatasetsApi datasets) throws ApiException {
    UploadDatasetFileResponse stored =
        datasets.uploadDatasetFile("acme", "support-answers", new File(System.getenv("TUNERANK_FILE")));
    Map<String, Object> reading = new LinkedHashMap<>();
    reading.put("filename", stored.getFilename());
    reading.put("bytes", stored.getBytes());
    READINGS.put("upload", reading);
  }

  // The client keeps the body of an error as text.
  private static void fail(DeploymentsApi deployments) {
    try {
      deployments.scaleDeployment("acme", "missing", new ScaleDeploymentRequest().replicaCount(0));
    } catch (ApiException error) {
      Map<String, Object> reading = new LinkedHashMap<>();
      reading.put("status", error.getCode());
      reading.put("code", GSON.fromJson(error.getResponseBody(), Map.class).get("code"));
      READINGS.put("error", reading);
    }
  }
}
