// Calls the client that openapi-generator made.
import com.squareup.moshi.Moshi
import java.io.File
import kotlin.system.exitProcess
import org.openapitools.client.apis.DatasetsApi
import org.openapitools.client.apis.DeploymentsApi
import org.openapitools.client.apis.ReinforcementFineTuningJobsApi
import org.openapitools.client.apis.RerankApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.ServerException
import org.openapitools.client.models.DeploymentScale
import org.openapitools.client.models.RerankRequest

val env: Map<String, String> = System.getenv()
val base = env.getValue("TUNERANK_BASE_URL")
val json = Moshi.Builder().build().adapter(Any::class.java).serializeNulls()

fun main() {
    ApiClient.accessToken = env.getValue("TUNERANK_API_KEY")
    val readings =
        mapOf(
            "resume" to resume("answer-quality"),
            "rerank" to rerank(),
            "scale" to DeploymentsApi(base).scaleDeployment("acme", "support-search", DeploymentScale(2)),
            "upload" to upload(),
            "error" to fail("missing").let { (status, body) -> mapOf("status" to status, "code" to codeOf(body)) },
            "jobs" to env.getValue("TUNERANK_JOBS").split(",").associateWith(::tryResume),
            "errors" to List(env.getValue("TUNERANK_ERRORS").toInt()) { fail("error-$it").first },
        )
    println(json.toJson(readings))
    exitProcess(0) // OkHttp keeps its threads alive.
}

fun tryResume(id: String): Map<String, Any?> =
    try {
        resume(id)
    } catch (error: Exception) {
        mapOf("failed" to error.toString())
    }

fun resume(id: String): Map<String, Any?> {
    val job = ReinforcementFineTuningJobsApi(base).resumeReinforcementFineTuningJob("acme", id, emptyMap<String, Any>())
    return mapOf(
        "state" to job.state,
        "code" to job.status?.code,
        "percent" to job.jobProgress?.percent,
        "displayName" to job.displayName,
        "minLrRatio" to job.trainingConfig?.lrScheduler?.cosine?.minLrRatio,
        "acceleratorSeconds" to job.acceleratorSeconds?.get("accelerator-type-a"),
    )
}

fun rerank(): Map<String, Any?> {
    val request =
        RerankRequest(
            query = "capital of France",
            documents = listOf("Rome.", "Lyon.", "Paris."),
            model = "accounts/acme/models/reranker-small",
            topN = 3,
            returnDocuments = true,
            task = "Find the capital.",
        )
    val best = RerankApi(base).rerankDocuments(request).`data`.first()
    return mapOf("index" to best.index, "relevanceScore" to best.relevanceScore.toDouble(), "document" to best.document)
}

fun upload(): Map<String, Any?> {
    val stored = DatasetsApi(base).uploadDatasetFile("acme", "support-answers", File(env.getValue("TUNERANK_FILE")))
    return mapOf("filename" to stored.filename, "bytes" to stored.bytes)
}

fun fail(id: String): Pair<Int, Any?> {
    try {
        DeploymentsApi(base).scaleDeployment("acme", id, DeploymentScale(0))
    } catch (error: ClientException) {
        return error.statusCode to (error.response as? ClientError<*>)?.body
    } catch (error: ServerException) {
        return error.statusCode to null
    }
    throw IllegalStateException("not refused: $id")
}

fun codeOf(body: Any?): Any? = (json.fromJson(body.toString()) as Map<*, *>)["code"]
